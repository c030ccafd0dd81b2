"""@fileoverview What memcheck prints, in a form that does not differ from run to run: without process, addresses and libraries' files; a
line of the program by the mark that stands there (`/* line: NAME */`). Used by the tests of memcheck.
"""
import re


def marks_of(source):
    return {number: mark[1] for number, line in enumerate(source.read_text().splitlines(), 1)
            if (mark := re.search(r"/\* line: ([\w.]+) \*/", line))}


def shorten(line, marks):
    """A report's line without what differs from run to run."""
    frame = re.fullmatch(r"   (at|by) 0x[0-9A-F]+: (.*?) \((?:in )?([^()]*?)(?::(\d+))?\)", line)
    if not frame:
        return re.sub(r"0x[0-9a-f]+", "HERE", line)
    word, function, file, number = frame.groups()
    mark = marks.get(int(number)) if number and file.startswith("memcheck_") else None
    function = re.sub(r"^__(?=[a-z])", "", function)   # with debug information, functions of libc may have their inner names
    return f"{word} {function}" + (f" {mark}" if mark else "")


def report(text, marks):
    """The errors: each a list of short lines. What calls a thread's first function is left out."""
    errors, now = [], []
    for line in text.splitlines():
        found = re.match(r"==\d+== ?(.*)", line)
        if not found:
            continue
        if found[1]:
            now.append(shorten(found[1], marks))
        elif now:
            errors.append([entry for entry in now if not re.fullmatch(r"by (start_thread|clone3?|main|in_thread)", entry)])
            now = []
    return errors
