// Peers that flood and do not read, on each transport and in both roles: `npm run flood`. Prints how much the memory of each
// victim grew. FLOOD_SECONDS: how long each flood lasts (60). FLOOD_ONLY: a part of the names of the floods to run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { call, handshake, noDiscovery, pings, post } from './peer.mjs';

const seconds = Number(process.env.FLOOD_SECONDS ?? 60);
const only = process.env.FLOOD_ONLY ?? '';
const AT_ONCE = Number(process.env.FLOOD_AT_ONCE ?? 4);
// Far above the measured growth, and far below unlimited growth within a minute.
const MOST_MB = 700;
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Writes as fast as the other side accepts, and reads nothing. */
async function pour(stream, make, counter) {
  let closed = false;
  let wake = () => undefined;
  stream.on('error', () => undefined);
  stream.on('drain', () => wake());
  stream.once('close', () => {
    closed = true;
    wake();
  });
  while (!closed && !counter.over) {
    const text = make();
    counter.bytes += text.length;
    const woken = new Promise((resolve) => {
      wake = resolve;
    });
    if (stream.write(text)) setImmediate(wake);
    await woken;
  }
  stream.destroy();
}

/** Several connections at a time. When the server cuts one, another is opened. */
async function overHttp(port, counter, make, connections = 8) {
  const one = async () => {
    while (!counter.over) {
      const socket = connect(port, '127.0.0.1').pause();
      await pour(socket, make, counter);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
}

async function overWebSocket(port, counter, make) {
  while (!counter.over) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, 'mcp');
    socket.on('error', () => undefined);
    await once(socket, 'open');
    socket._socket.pause();
    await pour(socket._socket, make, counter);
  }
}

/** A masked frame. */
function frame(opcode, text) {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126 ? [payload.length | 0x80] : [126 | 0x80, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), payload]);
}

const many = (make) => Buffer.concat(Array.from({ length: 200 }, make));
let id = 0;

const servers = {
  'HTTP server: plain responses unread': (port, counter) =>
    overHttp(port, counter, () => post(call(1, 'big', { size: 8_000_000 })), 20),
  'HTTP server: event streams unread': (port, counter) =>
    overHttp(port, counter, () => post(call(1, 'flood', {}, { progressToken: 1 }))),
  'HTTP server: pipelined calls that hang': (port, counter) =>
    overHttp(port, counter, () => post(call(1, 'hang')).repeat(50), 2),
  'WebSocket server: pings': (port, counter) => overWebSocket(port, counter, () => many(() => frame(9, ''))),
  'WebSocket server: responses unread': (port, counter) =>
    overWebSocket(port, counter, () => many(() => frame(1, call(id++, 'big')))),
  'WebSocket server: calls that hang': (port, counter) =>
    overWebSocket(port, counter, () => many(() => frame(1, call(id++, 'hang')))),
  'WebSocket server: invalid messages': (port, counter) =>
    overWebSocket(port, counter, () => many(() => frame(1, '{'))),
};

const stdio = {
  'stdio server: responses unread': () => `${call(id++, 'big')}\n`.repeat(50),
  'stdio server: calls that hang': () => `${call(id++, 'hang')}\n`,
  'stdio server: invalid messages': () => '{\n'.repeat(5000),
};

const clients = {
  'WebSocket client: pings': () => () => pingFrames,
  'WebSocket client: requests': () => {
    const texts = pings('');
    return () => unmasked(texts.next().value);
  },
};
const pingFrames = Buffer.concat(Array.from({ length: 1000 }, () => Buffer.from([0x89, 0])));

/** Frames of a server are not masked. A thousand requests are a batch in one frame. */
function unmasked(text) {
  const payload = Buffer.from(`[${text.replaceAll('}{', '},{')}]`);
  const head = Buffer.alloc(10);
  head[0] = 0x81;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

async function floodingSocketServer(flood, counter) {
  const http = createServer();
  new WebSocketServer({ server: http }).on('connection', (socket) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === 'server/discover') socket.send(noDiscovery(message.id));
      if (message.method !== 'initialize') return;
      socket.send(handshake(message.id));
      socket._socket.pause();
      void pour(socket._socket, flood(), counter);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { url: `ws://127.0.0.1:${http.address().port}/`, stop: () => http.closeAllConnections() };
}

/** An HTTP server whose responses never end. */
async function endlessHttp(type, make, counter) {
  const http = createServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': type });
    void pour(res, make, counter);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { url: `http://127.0.0.1:${http.address().port}/mcp`, stop: () => http.closeAllConnections() };
}

const endless = {
  'HTTP client: a body without an end': ['application/json', () => 'x'.repeat(65_536)],
  'HTTP client: an event without an end': ['text/event-stream', () => `data: ${'x'.repeat(65_536)}\n`],
  'HTTP client: events without an end': [
    'text/event-stream',
    () =>
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n'.repeat(
        500,
      ),
  ],
};

async function run(name, begin) {
  const counter = { bytes: 0, over: false };
  const { victim, attack, stop } = await begin(counter);
  let base = 0;
  let peak = 0;
  let ended;
  victim.on('message', (facts) => {
    base = facts.base;
    peak = Math.max(peak, facts.rss);
  });
  victim.once('exit', (code, signal) => (ended ??= signal ?? code));
  const attacking = Promise.resolve(attack?.()).catch((error) => console.error(name, error));
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  counter.over = true;
  const state = ended === undefined ? 'alive' : `ended (${ended})`;
  ended ??= 'stopped';
  victim.kill('SIGKILL');
  stop?.();
  await Promise.race([attacking, new Promise((resolve) => setTimeout(resolve, 2000))]);
  const growth = (peak - base) / 2 ** 20;
  const line = [
    name.padEnd(48),
    `${(counter.bytes / 2 ** 20).toFixed(0)} MB`.padStart(9),
    `${growth.toFixed(0)} MB`.padStart(8),
  ];
  console.log(`${line.join('  ')}  ${state}`);
  return growth <= MOST_MB && state !== 'ended (1)';
}

function start(script, args, options = {}) {
  const victim = fork(file(script), args, options);
  return once(victim, 'message').then(([facts]) => ({ victim, port: facts.port }));
}

const all = [
  ...Object.entries(servers).map(([name, attack]) => [
    name,
    async (counter) => {
      const { victim, port } = await start('victim-server.mjs', ['http']);
      return { victim, attack: () => attack(port, counter) };
    },
  ]),
  ...Object.entries(stdio).map(([name, make]) => [
    name,
    async (counter) => {
      const { victim } = await start('victim-server.mjs', ['stdio'], {
        stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
      });
      return { victim, attack: () => pour(victim.stdin, make, counter) };
    },
  ]),
  ...Object.entries(clients).map(([name, flood]) => [
    name,
    async (counter) => {
      const { url, stop } = await floodingSocketServer(flood, counter);
      const { victim } = await start('victim-client.mjs', [JSON.stringify(url)]);
      return { victim, stop };
    },
  ]),
  ...Object.entries(endless).map(([name, [type, make]]) => [
    name,
    async (counter) => {
      const { url, stop } = await endlessHttp(type, make, counter);
      const { victim } = await start('victim-client.mjs', [JSON.stringify(url)]);
      return { victim, stop };
    },
  ]),
  [
    'stdio client: requests',
    async () => {
      const target = { command: process.execPath, args: [file('flooding-stdio.mjs')] };
      const { victim } = await start('victim-client.mjs', [JSON.stringify(target)]);
      return { victim };
    },
  ],
].filter(([name]) => name.includes(only));

console.log(`${`each for ${seconds} s`.padEnd(48)}  ${'sent'.padStart(9)}  ${'growth'.padStart(8)}`);
const waiting = [...all];
const outcomes = [];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) outcomes.push(await run(...next));
  }),
);
process.exit(outcomes.every(Boolean) ? 0 : 1);
