# what: python3 with subprocess, multiprocessing by fork and spawn, signals and alarms, children traced and not
# program: python3 processes
# version: /usr/bin/python3 --version
# limit: 120
run /usr/bin/python3 "$SOURCES/processes.py" 2> plain.err; echo $?; cat plain.err
run_all /usr/bin/python3 "$SOURCES/processes.py"; echo $?
