# what: PostgreSQL as another user: initdb, server, pgbench with four clients, clean stop, all processes traced
# program: postgresql
# version: /usr/lib/postgresql/15/bin/postgres --version
# tools: none count
# needs: /usr/lib/postgresql/15/bin/postgres /usr/lib/postgresql/15/bin/pgbench setpriv
# limit: 400
bin=/usr/lib/postgresql/15/bin; mkdir data; chmod 711 .; chown postgres data; chmod 700 data; cd data; export HOME=$PWD PGHOST=$PWD PGUSER=postgres PGDATA=$PWD/db
as() { setpriv --reuid=postgres --regid=postgres --clear-groups bash -c "$(declare -f run run_all); cd $PWD; $1"; }
as "run_all $bin/initdb -N -A trust -E UTF8 --locale=C | grep -v -e selecting -e pg_ctl" | cksum
as "run_all $bin/postgres -k $PWD -c listen_addresses= -c fsync=off -c max_parallel_workers_per_gather=2 -c jit=off" 2> log & server=$!
for i in $(seq 1200); do as "$bin/pg_isready -q" && break; sleep 0.1; done
as "run $bin/pgbench -i -q -s 1 postgres 2>&1" | grep -v -e tuples -e 'done in'; as "run $bin/pgbench -n -c 4 -j 2 -t 100 postgres 2>&1" | grep -E 'transactions actually|failed'
as "run $bin/psql -At postgres" <<'END'
SELECT count(*), sum(abalance) = (SELECT sum(delta) FROM pgbench_history) FROM pgbench_accounts;
CREATE TABLE t AS SELECT i, i::bigint * 48271 % 65537 AS b, md5(i::text) AS c FROM generate_series(1, 50000) i; CREATE INDEX ON t(b);
SET parallel_setup_cost = 0; SELECT count(*), sum(b), max(c) FROM t; SELECT left(c, 1) AS k, count(*) FROM t GROUP BY k ORDER BY k LIMIT 4;
DO $$ BEGIN RAISE EXCEPTION 'raised'; EXCEPTION WHEN OTHERS THEN NULL; END $$; SELECT 1 / 0; SELECT x FROM json_to_recordset('[{"x":1},{"x":2}]') AS r(x int);
END
as "run_all $bin/pg_ctl stop -w -m fast > /dev/null"; echo "stop $?"; wait $server; echo "ended $?"; as "$bin/pg_controldata | grep -i 'cluster state'"
