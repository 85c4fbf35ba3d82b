import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

let server: Server | undefined;

afterEach(() => server?.close());

/** A message of the server, with its length. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** The end of a backend whose postmaster has died. */
const fatal = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'),
);
const accepted = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);

/** A server that accepts each connection, and ends it in the same packet. */
async function startBrokenServer(): Promise<string> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([accepted, fatal])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/anything`;
}

test('A process lives on when Postgres ends a connection in the packet that accepts it', async () => {
  const script = fileURLToPath(new URL('fixtures/start-anyway.mjs', import.meta.url));
  const env = { ...process.env, TEST_URL: await startBrokenServer() };
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(String(chunk)));
  const [code] = await once(child, 'close');
  expect(output.join('')).toMatch(/^Postgres at 127\.0\.0\.1:\d+\/anything failed: /);
  expect(code).toBe(0);
}, 60_000);
