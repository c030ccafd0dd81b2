# what: redis-server serves redis-benchmark, saves, restarts with its data, shuts down cleanly
# program: redis-server
# version: redis-server --version
# tools: none count
# needs: redis-server redis-benchmark redis-cli
# limit: 300
port=$((20000 + $$ % 20000)); socket=$HOME/s
start() { run redis-server --port 0 --unixsocket $socket --dir "$HOME" --save '' --appendonly no --daemonize no --logfile log --io-threads 2 & server=$!; for i in $(seq 400); do redis-cli -s $socket ping 2> /dev/null | grep -q PONG && break; sleep 0.05; done; }
start; redis-benchmark -q -s $socket -n 4000 -c 20 -P 4 -t set,get,incr,lpush,lpop,sadd,hset,zadd,mset --csv | cut -d, -f1
redis-cli -s $socket <<< 'flushall
eval "for i = 1, 3000 do redis.call(\"set\", \"k\" .. i, i * i) end return redis.call(\"dbsize\")" 0
get k77
bgsave'; for i in $(seq 200); do redis-cli -s $socket info persistence | grep -q 'rdb_bgsave_in_progress:0' && break; sleep 0.05; done; redis-cli -s $socket info persistence | grep rdb_last_bgsave_status
redis-cli -s $socket shutdown save; wait $server; echo "ended $?"; grep -c 'Redis is now ready to exit' log; start; redis-cli -s $socket dbsize; redis-cli -s $socket get k3000; kill -TERM $(grep -o 'pid=[0-9]*' log | tail -n 1 | cut -d= -f2); wait $server; echo "ended $?"; run redis-benchmark --help | head -n 1; run redis-cli --version
