# what: gnat compiles (all processes traced) and the program runs tasks and handles exceptions
# program: gnat
# version: gnatmake --version
# tools: none count
# needs: gnatmake
# limit: 120
cp "$SOURCES/work.adb" .; run_all gnatmake -q -O2 work.adb -o work; run ./work; echo $?; gnatmake -q -f -O0 -gnata work.adb -o checked; run ./checked; echo $?
