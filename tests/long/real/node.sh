# what: node (V8 with its compilers): hot loops, deoptimisation, worker threads, WebAssembly, child processes, http
# program: node
# version: node --version
# tools: none count
# needs: node
# limit: 300
run node "$SOURCES/work.js"; echo $?
run_all node -e 'const c = require("child_process"); console.log(c.execSync("seq 3 | sort -r").toString()); const p = c.spawnSync(process.execPath, ["-e", "process.exit(4)"]); console.log(p.status)'; echo $?
run node --jitless -e 'let s = 0; for (let i = 0; i < 1e5; i++) s += i % 7; console.log(s)'; run node -e 'throw new Error("text")' 2>&1 | grep -c 'Error: text'; run node -p '[1,2,3].map(x => x ** 2)'
