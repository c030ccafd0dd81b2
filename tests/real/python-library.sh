# what: python3's ctypes with callbacks, mmap, asyncio, sockets, epoll, sqlite3, a segmentation fault in a child
# program: python3 library
# version: /usr/bin/python3 --version
# tools: none count
run /usr/bin/python3 "$SOURCES/foreign.py"; echo $?
