# what: java (HotSpot with both compilers): threads, locks, collections, exceptions, null checks, garbage collection
# program: java
# version: java -version
# tools: none count
# needs: java javac
# limit: 300
javac -d . "$SOURCES/Work.java"
run java -XX:+UseParallelGC Work; echo $?
run java -Xint Work quick; echo $?
run java -XX:+UseG1GC -Xmx64m -XX:TieredStopAtLevel=1 Work quick; echo $?
run java -version 2>&1 | wc -l; run java NoSuchClass 2>&1 | head -n 1
