"""Threads, queues, locks and exceptions in Python: what python-threads.sh runs."""
import concurrent.futures
import hashlib
import queue
import random
import sys
import threading
import zlib

sys.setswitchinterval(0.0005)


def fill(tasks, results):
    while (number := tasks.get()) is not None:
        generator = random.Random(number)
        data = bytes(generator.randrange(256) for _ in range(2000))
        results.put((number, zlib.crc32(zlib.decompress(zlib.compress(data))), hashlib.sha256(data * 50).hexdigest()[:8]))


tasks, results = queue.Queue(), queue.Queue()
workers = [threading.Thread(target=fill, args=(tasks, results)) for _ in range(6)]
for worker in workers:
    worker.start()
for number in range(60):
    tasks.put(number)
for _ in workers:
    tasks.put(None)
for worker in workers:
    worker.join()
print(sorted(results.queue)[::20], len(results.queue))

counter, lock = 0, threading.Lock()


def count():
    global counter
    for _ in range(20000):
        with lock:
            counter += 1


threads = [threading.Thread(target=count) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(counter)

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: sum(i * i for i in range(n)), range(300))))
    failing = pool.submit(lambda: 1 // 0)
    print(repr(failing.exception()))

barrier, local = threading.Barrier(5), threading.local()
seen = []


def meet(number):
    local.number = number
    barrier.wait(timeout=20)
    seen.append(local.number)


threads = [threading.Thread(target=meet, args=(number,), daemon=True) for number in range(5)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
event = threading.Event()
timer = threading.Timer(0.05, event.set)
timer.start()
print(sorted(seen), event.wait(20), hasattr(local, "number"))
