// Hot loops, garbage, exceptions, a worker, WebAssembly, timers and a local server: what node.sh runs.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto'), zlib = require('zlib'), http = require('http');

function sieve(limit) {
  const composite = new Uint8Array(limit); let count = 0;
  for (let i = 2; i < limit; i++) { if (composite[i]) continue; count++; for (let j = i * i; j < limit; j += i) composite[j] = 1; }
  return count;
}

if (!isMainThread) {
  const view = new Int32Array(workerData.shared);
  for (let i = 0; i < 100000; i++) Atomics.add(view, 0, 1);
  parentPort.postMessage(sieve(workerData.limit));
} else main();

async function main() {
  console.log(sieve(3000000));
  const add = (a, b) => a + b; let mixed = 0;
  for (let i = 0; i < 300000; i++) mixed = add(mixed, i % 13);
  console.log(mixed, add('text', 1), add(0.5, 0.25), add(9007199254740991n, 2n));
  class Tree { constructor(d) { this.left = d ? new Tree(d - 1) : null; this.right = d ? new Tree(d - 1) : null; } count() { return 1 + (this.left ? this.left.count() + this.right.count() : 0); } }
  let nodes = 0; for (let i = 0; i < 20; i++) nodes += new Tree(12).count(); console.log(nodes);
  let text = ''; for (let i = 0; i < 20000; i++) text += String.fromCharCode(97 + i * 7 % 26); console.log(text.match(/(.)[^aeiou]{2,4}\1?/g).length, crypto.createHash('sha256').update(text).digest('hex'));
  console.log(zlib.gunzipSync(zlib.gzipSync(text)).length, JSON.stringify(JSON.parse('{"a":[1,{"b":null}]}')));
  let depth = 0; try { (function deep() { depth++; deep(); })(); } catch (error) { console.log(error instanceof RangeError, depth > 1000); }
  const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
  console.log((await WebAssembly.instantiate(bytes)).instance.exports.add(40, 2));
  const shared = new SharedArrayBuffer(4);
  const counts = await Promise.all([1, 2, 3].map(n => new Promise((resolve, reject) => { const worker = new Worker(__filename, { workerData: { limit: n * 300000, shared } }); worker.on('message', resolve); worker.on('error', reject); })));
  console.log(counts, new Int32Array(shared)[0]);
  const order = []; setTimeout(() => order.push('timeout'), 5); setImmediate(() => order.push('immediate')); await new Promise(r => setTimeout(r, 60)); console.log(order.sort());
  const server = http.createServer((request, response) => response.end(`answer to ${request.url}`)).listen(0, '127.0.0.1', async () => {
    const replies = await Promise.all([...Array(20).keys()].map(n => new Promise(resolve => http.get({ port: server.address().port, path: `/${n}` }, r => { let s = ''; r.on('data', d => s += d); r.on('end', () => resolve(s)); }))));
    console.log(replies.join()); server.close(); process.exitCode = 3;
  });
}
