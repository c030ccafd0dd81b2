# what: gdb in batch mode debugs another program: breakpoints, steps, watchpoints, signals, a core dump
# program: gdb
# version: gdb --version
# tools: none count
# needs: gdb gcc
# limit: 180
# except: gdb once tests on a copy of itself, by tracing it, whether data can be executed; the copy runs under Sonde, and gdb warns of a program counter in the code cache (linux_ptrace_test_ret_to_nx; docs/limits.md, traced children)
printf '#include <stdlib.h>\nint counter; int twice(int a) { counter += a; return a * 2; }\nint main(void)\n{\n  int sum = 0;\n  for (int i = 0; i < 5; i++)\n    sum += twice(i);\n  if (sum != 20) return 1;\n  abort();\n}\n' > debugged.c; gcc -g -O0 debugged.c -o debugged
ask() { run gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'set startup-with-shell off' -ex 'set disable-randomization on' "$@" ./debugged 2>&1 | grep -v -e linux_ptrace_test_ret_to_nx -e 'libthread_db' -e 'Thread debugging' -e 'process [0-9]'; }
ask -ex 'break twice if a == 3' -ex run -ex bt -ex 'print a' -ex 'print counter' -ex finish -ex 'info breakpoints' -ex 'continue'; ask -ex 'watch counter' -ex run -ex continue -ex continue -ex 'info registers rip' | sed 's/0x[0-9a-f]*/ADDRESS/g'; ask -ex 'break main' -ex run -ex next -ex step -ex 'stepi 3' -ex 'x/2i $pc' -ex 'set var counter = 100' -ex 'print twice(4) + counter' -ex kill | sed 's/0x[0-9a-f]*/ADDRESS/g'
ask -ex 'disassemble twice' -ex 'ptype twice' -ex 'info line main' | cksum; ask -ex run -ex 'info signal SIGABRT' -ex 'bt 2' | tail -n 4 | sed 's/0x[0-9a-f]*/ADDRESS/g'; run gdb -nx -batch -ex 'python print(6 * 7)'
