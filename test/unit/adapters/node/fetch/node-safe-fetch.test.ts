import { createServer, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dialChecked } from '../../../../../src/adapters/node/fetch/dial.js';
import { nodeSafeFetch } from '../../../../../src/adapters/node/fetch/node-safe-fetch.js';

// The real resolver and the real dialler, on loopback.

let server: Server;
let port: number;
let requests = 0;

beforeAll(async () => {
  server = createServer((_, response) => {
    requests++;
    response.end('here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

test.each(['127.0.0.1', 'localhost', 'localhost.', 'deep.under.localhost'])(
  'a server on this computer is reached as %s over http, only if loopback is allowed',
  async (host) => {
    const fetch = nodeSafeFetch();
    const before = requests;
    const response = await fetch(`http://${host}:${port}/`, { loopback: 'allow' });
    expect(await response.text()).toBe('here');
    await expect(fetch(`http://${host}:${port}/`)).rejects.toMatchObject({ code: 'bad_url' });
    await expect(fetch(`https://${host}:${port}/`)).rejects.toMatchObject({ code: 'private_address' });
    expect(requests).toBe(before + 1);
  },
);

test('names under localhost are never looked up', async () => {
  const fetch = nodeSafeFetch({ resolve: () => Promise.reject(new Error('looked up')) });
  expect((await fetch(`http://a.localhost:${port}/`, { loopback: 'allow' })).status).toBe(200);
});

test('a name that does not resolve and a port that nobody listens on have codes of their own', async () => {
  const fetch = nodeSafeFetch({
    resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
  });
  await expect(fetch('https://missing.example/?code=SECRET')).rejects.toMatchObject({
    code: 'name_not_found',
    message: 'The host missing.example cannot be resolved (ENOTFOUND).',
  });
  const free = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const { port: closedPort } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  await expect(
    fetch(`http://127.0.0.1:${closedPort}/?code=SECRET`, { loopback: 'allow' }),
  ).rejects.toMatchObject({
    code: 'connect_failed',
    message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/ cannot be reached.*ECONNREFUSED/),
  });
  const secure = nodeSafeFetch({ privateHosts: ['127.0.0.1'] });
  await expect(secure(`https://127.0.0.1:${closedPort}/`)).rejects.toMatchObject({
    code: 'connect_failed',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('a server without TLS cannot be requested over https', async () => {
  const fetch = nodeSafeFetch({ privateHosts: ['127.0.0.1'] });
  await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'connect_failed' });
});

test('the dialler tries the next address if the first does not respond, and gives Node no reason for a lookup', async () => {
  const url = new URL(`http://name-that-does-not-exist.invalid:${port}/`);
  const addresses = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ] as const;
  const socket = dialChecked({ url, addresses, port });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  expect(['127.0.0.1', '::ffff:127.0.0.1']).toContain(socket.remoteAddress);
  socket.destroy();
});

test('a connection to an address that was not checked is destroyed', async () => {
  const connect = net.connect;
  const url = new URL(`http://as.example:${port}/`);
  // A runtime that ignores `lookup` and resolves the name by itself.
  net.connect = (() => connect(port, '127.0.0.1')) as unknown as typeof net.connect;
  try {
    const socket = dialChecked({ url, addresses: [{ address: '93.184.215.14', family: 4 }], port });
    const error = await new Promise((resolve) => socket.once('error', resolve));
    expect(error).toMatchObject({ code: 'private_address' });
    expect(socket.destroyed).toBe(true);
  } finally {
    net.connect = connect;
  }
});
