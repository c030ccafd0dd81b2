"""@fileoverview What the tool is told of system calls' memory, against what the calls do to memory.

tests/tools/writing_calls.c makes every kind of call that writes and does no harm, twice each with the arena that it writes to
filled with other bytes; tests/tools/check_writes.c compares, byte for byte.
"""
import datetime
import os
import pathlib
import subprocess

import pytest


TOOLS = pathlib.Path(__file__).resolve().parent / "tools"
TODAY = int(os.environ.get("SONDE_TEST_ROTATION", datetime.date.today().toordinal()))

# Told as written although the kernel leaves them: padding that the result counts.
PADDING = {
    "recvmsg": "behind a control message",
    "getdents": "behind a name",
    "getdents64": "behind a name",
}
# Calls that an older kernel, a sandbox or a file system without extended attributes or extents may refuse.
OPTIONAL = {
    "fiemap", "xattr", "xattr_size", "name_to_handle_at", "name_to_handle_at_small", "mq", "io_uring_setup",
    "cachestat", "lsm_list_modules", "listmount", "statmount", "file_getattr", "get_mempolicy", "move_pages",
    "epoll_pwait2", "siocgifindex", "fs_ioc_getflags", "copy_file_range", "process_vm_readv", "adjtimex", "aio",
    "ustat", "sysfs", "prctl_auxv", "tiocgptn", "modify_ldt", "notification_sizes", "sched_setattr_too_big",
    "perf_event_open", "capget_version", "shmctl", "shmctl_info", "semctl", "msg", "tcgets", "tcgets2", "tcgeta",
    "tiocgwinsz", "tiocoutq", "tiocgetd",
}
# These write nothing, and nothing may be told.
SILENT = {
    "read_fails", "stat_fails", "rt_sigtimedwait_none", "tiocgpgrp_fails", "nanosleep", "clock_nanosleep_until",
    "recvmsg_nothing", "wait4_none", "xattr_size", "futex_wait", "futex_pi", "futex_wake_op", "fcntl_getlk",
    "adjtimex", "sendfile", "splice", "copy_file_range", "select", "select_interrupted", "pselect6", "siocgifindex",
    "capget_version", "io_uring_setup", "sched_setattr_too_big", "perf_event_open",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    target = tmp_path_factory.mktemp("program") / "writing_calls"
    subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O1", "-o", target, TOOLS / "writing_calls.c"],
                   check=True, timeout=60)
    return target


@pytest.mark.parametrize("seed", [1, 2, 3, TODAY])
def test_what_is_told_is_what_is_written(sonde, build_tool, program, seed, tmp_path):
    tool = build_tool("check_writes")
    ended = sonde(tool, f"--output={tmp_path / 'report'}", program, seed, tmp_path)
    assert ended.returncode == 0, ended.stderr
    lines = [line.split() for line in (tmp_path / "report").read_text().splitlines()]
    assert lines[-1] == ["finished"]
    wrong = [line for line in lines if line[0] in ("unlisted", "unannounced")]
    assert not wrong
    assert {line[1] for line in lines if line[0] == "unwritten"} <= PADDING.keys()
    told = {line[1]: int(line[3]) for line in lines if line[0] == "case"}
    assert told.keys() == {line.split()[0] for line in ended.stdout.splitlines()} and len(told) > 130
    assert {name for name, size in told.items() if not size} <= SILENT | OPTIONAL
    assert not [name for name in SILENT - OPTIONAL if told[name]]
