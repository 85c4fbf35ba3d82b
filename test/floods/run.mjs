// Peers that flood and do not read, on each transport and in both roles: `npm run flood`. Prints how much each victim grew.
// FLOOD_SECONDS: how long each flood lasts (60). FLOOD_ONLY: a part of the names of the floods to run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { call, discovered, handshake, pings, post } from './peer.mjs';

const seconds = Number(process.env.FLOOD_SECONDS ?? 60);
const only = process.env.FLOOD_ONLY ?? '';
const AT_ONCE = Number(process.env.FLOOD_AT_ONCE ?? 4);
// Far above the measured growth, and far below unlimited growth within a minute.
const MOST_MB = 700;
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Writes as fast as the other side accepts, and reads nothing. */
async function pour(stream, make, counted) {
  let closed = false;
  let wake = () => undefined;
  stream.on('error', () => undefined);
  stream.on('drain', () => wake());
  stream.once('close', () => {
    closed = true;
    wake();
  });
  while (!closed && !counted.over) {
    const text = make();
    counted.bytes += text.length;
    const woken = new Promise((resolve) => {
      wake = resolve;
    });
    if (stream.write(text)) setImmediate(wake);
    await woken;
  }
  stream.destroy();
}

/** One connection after the other, some at a time, each cut by the server or kept open. */
async function overHttp(port, counted, make, connections = 8) {
  const one = async () => {
    while (!counted.over) {
      const socket = connect(port, '127.0.0.1').pause();
      await pour(socket, make, counted);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
}

async function overWebSocket(port, counted, make) {
  while (!counted.over) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, 'mcp');
    socket.on('error', () => undefined);
    await once(socket, 'open');
    socket._socket.pause();
    await pour(socket._socket, make, counted);
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
  'HTTP server: plain answers unread': (port, counted) =>
    overHttp(port, counted, () => post(call(1, 'big', { size: 8_000_000 })), 20),
  'HTTP server: event streams unread': (port, counted) =>
    overHttp(port, counted, () => post(call(1, 'flood', {}, { progressToken: 1 }))),
  'HTTP server: pipelined calls that hang': (port, counted) =>
    overHttp(port, counted, () => post(call(1, 'hang')).repeat(50), 2),
  'WebSocket server: pings': (port, counted) => overWebSocket(port, counted, () => many(() => frame(9, ''))),
  'WebSocket server: answers unread': (port, counted) =>
    overWebSocket(port, counted, () => many(() => frame(1, call(id++, 'big')))),
  'WebSocket server: calls that hang': (port, counted) =>
    overWebSocket(port, counted, () => many(() => frame(1, call(id++, 'hang')))),
  'WebSocket server: messages that cannot be read': (port, counted) =>
    overWebSocket(port, counted, () => many(() => frame(1, '{'))),
};

const stdio = {
  'stdio server: answers unread': () => `${call(id++, 'big')}\n`.repeat(50),
  'stdio server: calls that hang': () => `${call(id++, 'hang')}\n`,
  'stdio server: messages that cannot be read': () => '{\n'.repeat(5000),
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

async function floodingSocketServer(flood, counted) {
  const http = createServer();
  new WebSocketServer({ server: http }).on('connection', (socket) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === 'server/discover') socket.send(discovered(message.id));
      if (message.method !== 'initialize') return;
      socket.send(handshake(message.id));
      socket._socket.pause();
      void pour(socket._socket, flood(), counted);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { url: `ws://127.0.0.1:${http.address().port}/`, stop: () => http.closeAllConnections() };
}

/** An HTTP server whose responses never end. */
async function endlessHttp(type, make, counted) {
  const http = createServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': type });
    void pour(res, make, counted);
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
  const counted = { bytes: 0, over: false };
  const { victim, attack, stop } = await begin(counted);
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
  counted.over = true;
  const lived = ended === undefined ? 'lives' : `ended (${ended})`;
  ended ??= 'stopped';
  victim.kill('SIGKILL');
  stop?.();
  await Promise.race([attacking, new Promise((resolve) => setTimeout(resolve, 2000))]);
  const grown = (peak - base) / 2 ** 20;
  const line = [
    name.padEnd(48),
    `${(counted.bytes / 2 ** 20).toFixed(0)} MB`.padStart(9),
    `${grown.toFixed(0)} MB`.padStart(8),
  ];
  console.log(`${line.join('  ')}  ${lived}`);
  return grown <= MOST_MB && lived !== 'ended (1)';
}

function start(script, args, options = {}) {
  const victim = fork(file(script), args, options);
  return once(victim, 'message').then(([facts]) => ({ victim, port: facts.port }));
}

const all = [
  ...Object.entries(servers).map(([name, attack]) => [
    name,
    async (counted) => {
      const { victim, port } = await start('victim-server.mjs', ['http']);
      return { victim, attack: () => attack(port, counted) };
    },
  ]),
  ...Object.entries(stdio).map(([name, make]) => [
    name,
    async (counted) => {
      const { victim } = await start('victim-server.mjs', ['stdio'], {
        stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
      });
      return { victim, attack: () => pour(victim.stdin, make, counted) };
    },
  ]),
  ...Object.entries(clients).map(([name, flood]) => [
    name,
    async (counted) => {
      const { url, stop } = await floodingSocketServer(flood, counted);
      const { victim } = await start('victim-client.mjs', [JSON.stringify(url)]);
      return { victim, stop };
    },
  ]),
  ...Object.entries(endless).map(([name, [type, make]]) => [
    name,
    async (counted) => {
      const { url, stop } = await endlessHttp(type, make, counted);
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

console.log(`${'each for'.padEnd(48)}  ${'sent'.padStart(9)}  ${'grown'.padStart(8)}  (${seconds} s)`);
const waiting = [...all];
const good = [];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) good.push(await run(...next));
  }),
);
process.exit(good.every(Boolean) ? 0 : 1);
