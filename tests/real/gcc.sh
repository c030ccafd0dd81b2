# what: gcc and g++ compile, assemble and link, children traced and not; the results run
# version: gcc --version
# tools: none
# needs: gcc g++
# limit: 90
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n' > hello.c
run gcc -O2 -g hello.c -o plain; run_all gcc -O2 -g hello.c -o traced; ./plain; echo $?; ./traced; echo $?; cmp plain traced && echo same; run_all gcc -static hello.c -o static; run ./static; echo $?
run_all gcc -pipe -O1 -S hello.c -o - | cksum; run gcc -E -dM hello.c | sort | cksum; echo 'int main(void) { return x }' > bad.c; run_all gcc -c bad.c; echo $?
printf '#include <map>\n#include <string>\n#include <iostream>\nint main() { std::map<std::string, int> m; for (int i = 0; i < 1000; i++) m["k" + std::to_string(i %% 37)] += i; for (auto &p : m) std::cout << p.first << " " << p.second << "\\n"; try { throw std::string("thrown"); } catch (std::string &s) { std::cout << s << "\\n"; } }\n' > map.cc
run_all g++ -O1 map.cc -o map; run ./map | cksum; run_all gcc -shared -fPIC -O2 -flto hello.c -o libhello.so; run nm -D libhello.so | cut -c18- | sort; run_all gcc -print-search-dirs | cksum
