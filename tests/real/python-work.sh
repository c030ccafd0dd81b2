# what: python3: an interpreter at work, start-up, exceptions, exit statuses
# program: python3
# version: /usr/bin/python3 --version
# tools: none count
# needs: /usr/bin/python3
run /usr/bin/python3 -c 'print("hello")'; run /usr/bin/python3 -S -E -c 'import sys; sys.exit(7)'; echo $?; run /usr/bin/python3 -c 'raise ValueError("text")'; echo $?
run /usr/bin/python3 -c 'from collections import Counter; import random; r = random.Random(4); c = Counter(r.randrange(1000) for _ in range(200000)); print(c.most_common(5), sum(k * v for k, v in c.items()))'
run /usr/bin/python3 -m json.tool <<< '{"b": [1, 2, {"c": null}], "a": 1.5e10}'; run /usr/bin/python3 -m dis <(echo 'x = [i * i for i in y]') | cut -c1-60 | grep -v 'code object' | cksum
run /usr/bin/python3 -m zipfile -c archive.zip "$SOURCES/foreign.py"; run /usr/bin/python3 -m zipfile -t archive.zip; run /usr/bin/python3 -m py_compile "$SOURCES/none.py"; echo $?
run /usr/bin/python3 -X importtime -c 'import email.mime.text' 2>&1 | sed 's/.*| *//' | sort | cksum; run /usr/bin/python3 - <<< 'import os; print(os.cpu_count(), os.path.basename(os.readlink("/proc/self/exe")))'
