import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { SafeFetchError } from '../../../../../src/oauth/fetch/safe-fetch.js';
import { USER_AGENT } from '../../../../../src/protocol/version.js';
import { failureOf } from '../../../../support/failure.js';
import { PUBLIC_ADDRESS, type PublicHosts, publicHosts } from '../../../../support/http/public-hosts.js';

// A hostile peer chooses the URL, its name server, or the reply. Nothing leaves the machine.

const opened: PublicHosts[] = [];

afterEach(async () => {
  for (const hosts of opened.splice(0)) await hosts.close();
});

async function open(...args: Parameters<typeof publicHosts>): Promise<PublicHosts> {
  const hosts = await publicHosts(...args);
  opened.push(hosts);
  return hosts;
}

const json = (_: IncomingMessage, response: ServerResponse): void => {
  response.setHeader('content-type', 'application/json').end('{"ok":true}');
};

test('a public host is requested on a connection to the address that was checked, with no header of ours but the name', async () => {
  const hosts = await open(json);
  const response = await hosts.fetch('https://as.public.example/x?y=1');
  expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
  expect(hosts.requests).toEqual(['GET as.public.example/x?y=1']);
  expect(hosts.dialled).toEqual([`${PUBLIC_ADDRESS}:443`]);
  expect(hosts.received[0]?.headers).toEqual({
    host: 'as.public.example',
    'accept-encoding': 'identity',
    'user-agent': USER_AGENT,
    connection: 'close',
  });
  await hosts.idle();
});

test('a POST arrives with its body, and several headers of one name come back joined', async () => {
  const hosts = await open((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () =>
      response.setHeader('www-authenticate', ['Bearer', 'DPoP algs="ES256"']).end(body),
    );
  });
  const response = await hosts.fetch('https://as.public.example:8443/token', {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'x y' }),
  });
  expect(await response.text()).toBe('grant_type=x+y');
  expect(response.headers.get('www-authenticate')).toBe('Bearer, DPoP algs="ES256"');
  expect(hosts.received[0]?.headers).toMatchObject({
    'content-length': '14',
    host: 'as.public.example:8443',
  });
  expect(hosts.dialled).toEqual([`${PUBLIC_ADDRESS}:8443`]);
});

test.each([
  'https://169.254.169.254/latest/meta-data/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://１２７.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://localhost/',
  'https://localhost./',
  'https://a.localhost/',
  'https://metadata.google.internal/',
])('%s is refused before a lookup or a connection', async (url) => {
  const hosts = await open(json);
  expect((await failureOf(SafeFetchError, hosts.fetch(url))).code).toBe('private_address');
  expect([hosts.lookups, hosts.dialled]).toEqual([[], []]);
});

test.each([
  ['127.0.0.1'],
  ['169.254.169.254'],
  ['10.0.0.1'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['64:ff9b::a9fe:a9fe'],
  ['fd00:ec2::254'],
  [PUBLIC_ADDRESS, '127.0.0.1'],
  [PUBLIC_ADDRESS, 'not an address'],
])(
  'a name that resolves to %s is refused without a connection, and the message does not name the address',
  async (...addresses) => {
    const hosts = await open(json, { addresses: () => addresses });
    for (const loopback of ['refuse', 'allow'] as const) {
      const error = await failureOf(
        SafeFetchError,
        hosts.fetch('https://rebind.public.example/', { loopback }),
      );
      expect(error.code).toBe('private_address');
      expect(error.message).toContain('rebind.public.example');
      for (const address of addresses) expect(error.message).not.toContain(address);
    }
    expect(hosts.dialled).toEqual([]);
  },
);

test('a name whose second lookup differs is looked up once, and the checked address is dialled', async () => {
  const hosts = await open(json, { addresses: (_, lookup) => [lookup === 1 ? PUBLIC_ADDRESS : '127.0.0.1'] });
  expect((await hosts.fetch('https://rebind.public.example/')).status).toBe(200);
  expect(hosts.lookups).toEqual(['rebind.public.example']);
  expect(hosts.dialled).toEqual([`${PUBLIC_ADDRESS}:443`]);
  // The next request looks the name up again, and is refused.
  expect((await failureOf(SafeFetchError, hosts.fetch('https://rebind.public.example/'))).code).toBe(
    'private_address',
  );
  expect(hosts.dialled).toHaveLength(1);
});

test('a redirect to a name that resolves to a private address is looked up, refused and not dialled', async () => {
  const hosts = await open(
    (_, response) => response.writeHead(302, { location: 'https://inner.public.example/' }).end(),
    { addresses: (name) => [name.startsWith('inner') ? '10.0.0.7' : PUBLIC_ADDRESS] },
  );
  expect((await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/'))).code).toBe(
    'private_address',
  );
  expect(hosts.requests).toEqual(['GET as.public.example/']);
});

test('credentials do not follow a redirect to another origin', async () => {
  const hosts = await open((request, response) => {
    if (request.url === '/') response.writeHead(302, { location: 'https://evil.public.example/steal' }).end();
    else response.end();
  });
  await hosts.fetch('https://as.public.example/', {
    headers: { authorization: 'Bearer t', dpop: 'proof', 'x-api-key': 'k', accept: 'application/json' },
  });
  expect(hosts.requests).toEqual(['GET as.public.example/', 'GET evil.public.example/steal']);
  expect(hosts.received[0]?.headers.authorization).toBe('Bearer t');
  expect(Object.keys(hosts.received[1]?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
});

test.each([
  ['of a redirect', 302, { location: '/next' }, 'bad_redirect'],
  ['that is announced', 200, { 'content-length': '100000000' }, 'too_large'],
] as const)('the connection of an endless body %s is destroyed unread', async (_, status, headers, code) => {
  const hosts = await open((_request, response) => endlessBody(response.writeHead(status, headers)));
  const error = await failureOf(
    SafeFetchError,
    hosts.fetch('https://as.public.example/', { maxRedirects: 0 }),
  );
  expect(error.code).toBe(code);
  await hosts.idle();
});

test('an endless body is cut at the limit, and its connection is destroyed', async () => {
  const hosts = await open((_, response) => endlessBody(response));
  expect(
    (await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/', { maxBytes: 100_000 }))).code,
  ).toBe('too_large');
  await hosts.idle();
});

test('endless headers are cut, and their connection is destroyed', async () => {
  const hosts = await open((request) => {
    const { socket } = request;
    socket.write('HTTP/1.1 200 OK\r\n');
    const write = (): void => {
      while (!socket.destroyed && socket.write(`x-filler: ${'y'.repeat(1000)}\r\n`));
    };
    socket.on('drain', write);
    write();
  });
  expect((await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/'))).code).toBe('too_large');
  await hosts.idle();
});

test('endless interim replies are cut, and their connection is destroyed', async () => {
  const hosts = await open((request) => {
    const { socket } = request;
    const write = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
    };
    socket.on('drain', write);
    write();
  });
  expect((await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/'))).code).toBe('bad_reply');
  await hosts.idle();
});

test.each([
  ['after the connection', (): void => undefined],
  ['in the headers', (request: IncomingMessage) => drip(request, 'HTTP/1.1 200 OK\r\nx: ')],
  [
    'in the body',
    (request: IncomingMessage) => drip(request, 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'),
  ],
])('a reply that drips %s ends at the time limit, and its connection is destroyed', async (_, handle) => {
  const hosts = await open(handle);
  const error = await failureOf(
    SafeFetchError,
    hosts.fetch('https://as.public.example/?code=SECRET', { timeoutMs: 300 }),
  );
  expect(error).toMatchObject({
    code: 'timeout',
    message: 'https://as.public.example/ took more than 0.3 s to reply.',
  });
  await hosts.idle();
});

test('a resolver that never answers ends at the time limit', async () => {
  const hosts = await open(json, { addresses: () => new Promise(() => undefined) });
  expect(
    (await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/', { timeoutMs: 50 }))).code,
  ).toBe('timeout');
  expect(hosts.dialled).toEqual([]);
});

test('a resolver that answers after the time limit causes no connection', async () => {
  let answer = (_: readonly string[]): void => undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    answer = resolve;
  });
  const hosts = await open(json, { addresses: () => late });
  await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/', { timeoutMs: 50 }));
  answer([PUBLIC_ADDRESS]);
  // A request that is not late: after it, the late one would have been dialled too.
  expect((await hosts.fetch('https://as.public.example:8443/')).status).toBe(200);
  expect(hosts.dialled).toEqual([`${PUBLIC_ADDRESS}:8443`]);
});

test('an abort destroys the connection and rejects with the reason of the caller', async () => {
  const reason = new Error('no longer needed');
  const controller = new AbortController();
  const hosts = await open(() => controller.abort(reason));
  await expect(hosts.fetch('https://as.public.example/', { signal: controller.signal })).rejects.toBe(reason);
  await hosts.idle();
});

test('a compressed body, a reply that is not HTTP, a switch of protocols and a cut body are errors', async () => {
  const hosts = await open((request, response) => {
    const { socket } = request;
    switch (request.url) {
      case '/compressed':
        return void response.setHeader('content-encoding', 'gzip').end('x');
      case '/nonsense':
        return void socket.end('SSH-2.0-OpenSSH\r\n\r\n');
      case '/switch':
        return void socket.end(
          'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
        );
      default:
        return void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}');
    }
  });
  const codeAt = async (path: string): Promise<string> =>
    (await failureOf(SafeFetchError, hosts.fetch(`https://as.public.example${path}`))).code;
  expect(await codeAt('/compressed')).toBe('bad_reply');
  expect(await codeAt('/nonsense')).toBe('bad_reply');
  expect(await codeAt('/switch')).toBe('connect_failed');
  expect(await codeAt('/cut')).toBe('connect_failed');
  await hosts.idle();
});

test('a certificate for another name is refused, even if the environment turns the check off', async () => {
  const hosts = await open(json);
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  try {
    const error = await failureOf(SafeFetchError, hosts.fetch('https://as.other.example/'));
    expect(error).toMatchObject({ code: 'connect_failed', message: expect.stringContaining('ALTNAME') });
    expect(hosts.requests).toEqual([]);
  } finally {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  }
});

test('a literal public address is dialled, with a certificate for that address', async () => {
  const hosts = await open(json);
  expect((await hosts.fetch(`https://${PUBLIC_ADDRESS}/`)).status).toBe(200);
  expect([hosts.lookups, hosts.dialled]).toEqual([[], [`${PUBLIC_ADDRESS}:443`]]);
});

test('a host that the operator names may resolve to a private address, and its neighbours may not', async () => {
  const hosts = await open(json, { privateHosts: ['idp.corp.internal'], addresses: () => ['10.1.2.3'] });
  expect((await hosts.fetch('https://idp.corp.internal/')).status).toBe(200);
  expect(hosts.dialled).toEqual(['10.1.2.3:443']);
  expect((await failureOf(SafeFetchError, hosts.fetch('https://as.public.example/'))).code).toBe(
    'private_address',
  );
});

test('a proxy in the environment is not used', async () => {
  const hosts = await open(json);
  const before = process.env['HTTPS_PROXY'];
  process.env['HTTPS_PROXY'] = 'http://127.0.0.1:1';
  try {
    expect((await hosts.fetch('https://as.public.example/')).status).toBe(200);
  } finally {
    if (before === undefined) delete process.env['HTTPS_PROXY'];
    else process.env['HTTPS_PROXY'] = before;
  }
});

function endlessBody(response: ServerResponse): void {
  const write = (): void => {
    while (response.write(Buffer.alloc(16_384))) if (response.destroyed) return;
  };
  response.on('drain', write);
  write();
}

function drip({ socket }: IncomingMessage, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('y'), 10);
  socket.on('close', () => clearInterval(timer));
}
