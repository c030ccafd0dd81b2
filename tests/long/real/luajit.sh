# what: luajit with its compiler on and off, coroutines, foreign functions with callbacks
# program: luajit
# version: luajit -v
# tools: none count
# needs: luajit
run luajit "$SOURCES/work.lua"; echo $?; run luajit -joff "$SOURCES/work.lua"; echo $?; run luajit -e 'error("text")' 2>&1 | head -n 1; run luajit -Ohotloop=2 "$SOURCES/work.lua"; echo $?
