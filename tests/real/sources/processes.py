"""subprocess, multiprocessing by fork and by spawn, pipes and signals in Python: what python-processes.sh runs."""
import multiprocessing
import os
import signal
import subprocess
import sys


def square(number):
    return number * number, os.getpid() != MAIN


def total(numbers, connection):
    connection.send(sum(numbers))
    connection.close()


MAIN = int(os.environ.setdefault("MAIN_PROCESS", str(os.getpid())))


def try_multiprocessing(method):
    context = multiprocessing.get_context(method)
    with context.Pool(3) as pool:
        print(method, pool.map(square, range(10)))
    here, there = context.Pipe()
    worker = context.Process(target=total, args=(list(range(1000)), there))
    worker.start()
    print(here.recv(), worker.join(), worker.exitcode)
    shared = context.Value("i", 0)
    array = context.Array("d", 5)
    writers = [context.Process(target=add, args=(shared, array, number)) for number in range(5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    print(shared.value, list(array))


def add(shared, array, number):
    for _ in range(100):
        with shared.get_lock():
            shared.value += 1
    array[number] = number / 2


def try_subprocess():
    print(subprocess.run(["tr", "a-z", "A-Z"], input="through a pipe", capture_output=True, text=True).stdout)
    print(subprocess.run("echo out; echo err >&2; exit 5", shell=True, capture_output=True))
    with subprocess.Popen(["sleep", "30"]) as sleeper:
        sleeper.terminate()
        print(sleeper.wait())
    try:
        subprocess.run(["sleep", "30"], timeout=0.2)
    except subprocess.TimeoutExpired as error:
        print("timeout", round(error.timeout, 1))
    try:
        subprocess.run(["/nonexistent/program"])
    except FileNotFoundError as error:
        print(error)
    first = subprocess.Popen(["seq", "20000"], stdout=subprocess.PIPE)
    print(subprocess.run(["tail", "-n", "1"], stdin=first.stdout, capture_output=True).stdout, first.wait())
    code = "import sys; print(sum(map(int, sys.stdin))); sys.exit(9)"
    done = subprocess.run([sys.executable, "-c", code], input="\n".join(map(str, range(500))), text=True,
                          capture_output=True)
    print(done.stdout.strip(), done.returncode)
    print(subprocess.run(["cat", "/dev/fd/0"], stdin=subprocess.DEVNULL, preexec_fn=os.setsid, close_fds=True).returncode)
    print(os.waitstatus_to_exitcode(os.system("kill -9 $$")), os.popen("echo popen").read().strip())
    child = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 4"], {})
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def try_signals():
    got = []
    signal.signal(signal.SIGALRM, lambda number, frame: got.append(number))
    signal.alarm(1)
    while not got:
        sum(range(1000))
    print("alarm", got)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    while len(got) < 20:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("timer")
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigpending() == {signal.SIGUSR1}, signal.sigwait([signal.SIGUSR1]))
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(33))
        os.kill(os.getppid(), signal.SIGCONT)
        while True:
            signal.pause()
    while True:
        os.kill(child, signal.SIGTERM)
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
    print("child ended", os.waitstatus_to_exitcode(status) in (33, -signal.SIGTERM))


if __name__ == "__main__":
    try_subprocess()
    try_signals()
    try_multiprocessing("fork")
    try_multiprocessing("spawn")
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
