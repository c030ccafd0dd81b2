"""ctypes, callbacks, mmap, asyncio, sockets, sqlite3, decimal, json and tracebacks: what python-library.sh runs."""
import array
import asyncio
import ctypes
import decimal
import faulthandler
import fractions
import json
import mmap
import os
import re
import select
import socket
import sqlite3
import struct
import sys
import tempfile
import traceback

libc = ctypes.CDLL(None)
libc.qsort.restype = None
numbers = (ctypes.c_int * 200)(*[(n * 7919) % 1009 for n in range(200)])
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc.qsort(numbers, len(numbers), ctypes.sizeof(ctypes.c_int), COMPARE(lambda a, b: a[0] - b[0]))
print(list(numbers)[:8], list(numbers) == sorted(numbers))
libm = ctypes.CDLL("libm.so.6")
libm.pow.restype, libm.pow.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
print(libm.pow(2, 0.5), libc.strlen(b"a string"), ctypes.string_at(ctypes.create_string_buffer(b"buffer")))
ctypes.set_errno(0)
print(libc.close(-1))


class Pair(ctypes.Structure):
    _fields_ = [("one", ctypes.c_short), ("two", ctypes.c_double), ("three", ctypes.c_char * 5)]


pair = Pair(1, 2.5, b"abc")
print(bytes(pair).hex(), ctypes.sizeof(Pair))

with tempfile.TemporaryFile() as file:
    file.truncate(1 << 20)
    with mmap.mmap(file.fileno(), 0) as memory:
        memory[1000:1010] = b"0123456789"
        memory.resize(2 << 20)
        print(memory.find(b"345"), len(memory))
    print(os.pread(file.fileno(), 5, 1003))


async def serve():
    async def answer(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def ask(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"question %d\n" % number)
        reply = await reader.read()
        writer.close()
        return reply
    print(await asyncio.gather(*map(ask, range(20))))
    process = await asyncio.create_subprocess_exec("seq", "3", stdout=asyncio.subprocess.PIPE)
    print(await process.communicate(), process.returncode)
    server.close()


asyncio.run(serve())
left, right = socket.socketpair()
poll = select.epoll()
poll.register(right, select.EPOLLIN)
left.send(b"ready")
print([event for _, event in poll.poll(5)], right.recv(10))

database = sqlite3.connect(":memory:")
database.create_function("twice", 1, lambda value: value * 2)
database.execute("create table t(a, b)")
database.executemany("insert into t values(?, ?)", ((n, n * n % 97) for n in range(3000)))
print(database.execute("select b, sum(twice(a)) from t group by b order by 2 desc limit 3").fetchall())

decimal.getcontext().prec = 60
print(decimal.Decimal(2).sqrt(), fractions.Fraction(355, 113) ** 5, 3 ** 500 % 10 ** 40, (0.1 + 0.2).hex())
data = {"list": list(range(20)), "text": "äöü", "none": None, "float": 1e-300}
print(json.loads(json.dumps(data)) == data, struct.pack("<hqd", 1, -2, 3.5).hex(), array.array("d", [1.5]).tobytes())
print(re.sub(r"(?P<word>\w+) (?P<rest>\w+)", r"\g<rest> \g<word>", "one two three four"), sys.version.split()[0])
try:
    def deep(n):
        return deep(n + 1)
    deep(0)
except RecursionError as error:
    print("recursion", str(error)[:30])
try:
    [][1]
except IndexError:
    traceback.print_exc(file=sys.stdout)
sys.stdout.flush()
faulthandler.disable()
if os.fork() == 0:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.string_at(8)
print(os.waitstatus_to_exitcode(os.wait()[1]))
