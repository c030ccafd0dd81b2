# what: a part of python3's own regression suite
# program: python3 regression suite
# version: /usr/bin/python3 --version
# tools: none count
# needs: /usr/lib/python3.11/test/test_struct.py
# limit: 1500
for module in array ast bigmem binascii bisect bufio builtin bytes bz2 cmath collections compile complex copy coroutines csv ctypes dataclasses datetime decimal descr dict dis exceptions fcntl float fork1 format fractions functools generators gc gzip hashlib heapq itertools json list long lzma math memoryview mmap opcodes operator ordered_dict pickle poll posix queue random re sched select set shelve signal slice sort sqlite3 string strptime struct sys sys_setprofile tempfile textwrap thread threading threadsignals time tokenize traceback tuple types unicode unicodedata userdict wait3 wait4 weakref zipfile zlib; do
  [ -e /usr/lib/python3.11/test/test_$module.py ] || [ -d /usr/lib/python3.11/test/test_$module ] || continue
  run /usr/bin/python3 -m test -q -u none test_$module > out 2>&1; echo "$module $?"
done
