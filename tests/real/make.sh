# what: make with two jobs, pattern rules, functions, a failing recipe; all processes traced
# version: make --version
# needs: make gcc
for i in 1 2 3 4; do echo "int f$i(void) { return $i; }" > f$i.c; done; echo 'int f1(void), f2(void), f3(void), f4(void); int main(void) { return f1() * f2() * f3() * f4(); }' > main.c
printf 'OBJECTS := $(patsubst %%.c,%%.o,$(sort $(wildcard *.c)))\nprogram: $(OBJECTS)\n\t@gcc -o $@ $^\n%%.o: %%.c\n\t@gcc -O1 -c $< -o $@\nfail: ; @exit 3\nshow: ; @echo $(shell seq 3) $(words $(OBJECTS)) $(MAKEFLAGS)\n.PHONY: fail show\n' > Makefile
run_all make -s -j2 program; echo $?; ./program; echo $?; run_all make -s program; run_all make show; run_all make fail; echo $?; run make -n -B program; touch f2.c; run make -q program; echo $?; run make nothing; echo $?
