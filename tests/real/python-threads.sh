# what: python3 with threads, queues, locks, timers
# program: python3 threads
# version: /usr/bin/python3 --version
# tools: none count
run /usr/bin/python3 "$SOURCES/threads.py"; echo $?
