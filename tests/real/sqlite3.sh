# what: sqlite3: tables, indexes, joins, recursion, full text, journal and WAL on disk, corruption
# version: sqlite3 --version
# tools: none count
# needs: sqlite3
cat > script.sql <<'END'
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) INSERT INTO t SELECT i, printf('%x', i * 48271 % 65537), i / 7.0 FROM n;
CREATE INDEX by_b ON t(b);
SELECT count(*), sum(c), min(b), max(b) FROM t; SELECT substr(b, 1, 1) AS k, count(*), round(avg(c), 3) FROM t GROUP BY k ORDER BY k;
SELECT count(*) FROM t x JOIN t y ON x.b = y.b AND x.a < y.a; UPDATE t SET c = c * 2 WHERE b LIKE '%f'; DELETE FROM t WHERE a % 3 = 0;
SELECT json_group_array(a) FROM t WHERE a < 30; SELECT a, lag(b) OVER (ORDER BY a), rank() OVER (ORDER BY b) FROM t ORDER BY a LIMIT 5;
BEGIN; DELETE FROM t; ROLLBACK; SELECT count(*) FROM t; PRAGMA integrity_check; VACUUM;
SELECT hex(zeroblob(4)), abs(-5), upper('text'), 1e308 * 10, 9223372036854775807 + 1, datetime(0, 'unixepoch');
END
run sqlite3 one.db < script.sql; run sqlite3 :memory: '.read script.sql' | cksum; run sqlite3 one.db .dump | cksum; run sqlite3 wal.db 'PRAGMA journal_mode=WAL; CREATE TABLE x(y); INSERT INTO x VALUES (1), (2); SELECT sum(y) FROM x;'; run sqlite3 -json one.db 'SELECT * FROM t LIMIT 3'
run sqlite3 one.db 'SELECT nothing'; echo $?; head -c 3000 one.db > bad.db; run sqlite3 bad.db 'SELECT count(*) FROM t'; echo $?; run sqlite3 one.db 'CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f SELECT b FROM t; SELECT count(*) FROM f WHERE f MATCH "1f OR 2f*";'
