import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect } from 'fullmcp/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keptTokens, loginStore, prepareLoginStore } from '../../../src/cli/target/login/login-store.js';
import { tokensKey } from '../../../src/oauth/client/store/records.js';
import { type ProtectedSetup, startProtected } from '../../support/oauth/provider.js';
import { TestUser } from '../../support/oauth/user.js';
import { demoServer } from '../support/demo.js';
import { fullmcp, type Ran } from '../support/run-cli.js';

// Logins against a real authorization server, with tokens in a folder of the test.

const program = fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
const demo = demoServer();
let home: string;
let setup: ProtectedSetup;
let user: TestUser;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'fullmcp-login-'));
  vi.stubEnv('FULLMCP_HOME', home);
  vi.stubEnv('FULLMCP_TOKEN_KEY', '');
  vi.stubEnv('MCP_TOKEN', '');
  setup = await startProtected();
  user = new TestUser();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await setup.close();
  // A command that was stopped may still give back its lock.
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

function run(...words: readonly string[]): Promise<Ran> {
  return fullmcp(words, { openPage: user.open });
}

/** Every token that the authorization server has issued. */
function secrets(): readonly string[] {
  return [...setup.issued, ...setup.refreshTokens];
}

/** Everything in all files of the folder. */
async function allFiles(): Promise<readonly string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Lets the access token end, as if an hour had passed. */
async function expire(): Promise<void> {
  const tokens = await keptTokens(setup.url);
  await loginStore().set(
    tokensKey(setup.url, 'user'),
    JSON.stringify({ ...tokens, expiresAt: Date.now() - 1000 }),
  );
}

describe('fullmcp auth login', () => {
  it('logs in once with the browser, and every later command is logged in', async () => {
    const login = await run('auth', 'login', setup.url, '--json');
    expect(login.exit).toBe(0);
    expect(login.json()).toMatchObject({
      ok: true,
      server: setup.url,
      loggedIn: true,
      issuer: setup.issuer,
      canRefresh: true,
    });
    expect(user.opened).toHaveLength(1);
    expect((await run('call', setup.url, 'read')).stdout).toBe('read\n');
    expect((await run('list', setup.url)).exit).toBe(0);
    expect((await run('doctor', setup.url)).stdout).toContain('It accepts the token.');
    expect(user.opened).toHaveLength(1);
  });

  it('prints no token and keeps none in the clear, and only its owner can read the files', async () => {
    const login = await run('auth', 'login', setup.url);
    const status = await run('auth', 'status', setup.url, '--json');
    const listed = await run('list', setup.url, '--debug');
    expect(secrets().length).toBeGreaterThan(0);
    const printed = [login, status, listed].map(({ stdout, stderr }) => stdout + stderr).join('');
    for (const secret of secrets()) expect(printed).not.toContain(secret);
    expect(login.stdout).toBe('');
    for (const file of await allFiles()) {
      const content = await readFile(file, 'utf8');
      for (const secret of secrets()) expect(content).not.toContain(secret);
      expect((await stat(file)).mode & 0o077).toBe(0);
    }
  });

  it('shows only the origin of the page if stderr is not a terminal, and the address to a person', async () => {
    const login = await run('auth', 'login', setup.url);
    expect(login.stderr).toContain(`Waiting for the login at ${setup.issuer}\n`);
    expect(login.stderr).not.toContain('code_challenge');
    await run('auth', 'logout', setup.url);
    const watched = await fullmcp(['auth', 'login', setup.url], { terminal: true, openPage: user.open });
    expect(watched.stderr).toContain('Log in at http://127.0.0.1');
    expect(watched.stderr).toContain('code_challenge');
  });

  it('prints the address and leaves the browser alone with --print-url', async () => {
    const openPage = vi.fn();
    const onStderr = (written: string): void => {
      const [, address] = /Log in at (\S+)\n/.exec(written) ?? [];
      if (address !== undefined && user.opened.length === 0) void user.open(address);
    };
    const { exit } = await fullmcp(['auth', 'login', setup.url, '--print-url'], { openPage, onStderr });
    expect(exit).toBe(0);
    expect(openPage).not.toHaveBeenCalled();
  });

  it('shows a code for another device with --device, and opens nothing', async () => {
    const stopping = new AbortController();
    const openPage = vi.fn();
    const onStderr = (written: string): void => {
      if (/^Open http:\S+ on any device, and enter the code \S+\n/.test(written)) stopping.abort();
    };
    const options = { openPage, onStderr, signal: stopping.signal };
    expect((await fullmcp(['auth', 'login', setup.url, '--device'], options)).exit).toBe(130);
    expect(openPage).not.toHaveBeenCalled();
  });

  it('takes the id of a client where clients cannot register themselves, and keeps it for refreshes', async () => {
    await setup.close();
    setup = await startProtected({
      configure: (configuration) => ({
        ...configuration,
        features: { ...configuration.features, registration: { enabled: false } },
        clients: [
          {
            client_id: 'by-hand',
            application_type: 'native',
            token_endpoint_auth_method: 'none',
            redirect_uris: ['http://127.0.0.1/callback'],
          },
        ],
      }),
    });
    const without = await run('auth', 'login', setup.url);
    expect(without.exit).toBe(6);
    expect(without.stderr).toContain('--client-id');
    expect((await run('auth', 'login', setup.url, '--client-id', 'by-hand')).exit).toBe(0);
    await expire();
    expect((await run('call', setup.url, 'read')).stdout).toBe('read\n');
  });

  it('ends at Ctrl+C while it waits for the browser', async () => {
    const stopping = new AbortController();
    const openPage = async (): Promise<void> => stopping.abort();
    const { exit } = await fullmcp(['auth', 'login', setup.url], { openPage, signal: stopping.signal });
    expect(exit).toBe(130);
    expect((await run('auth', 'status', setup.url)).exit).toBe(1);
  });

  it('says that a server asks for no login', async () => {
    const { exit, json } = await run('auth', 'login', demo.url, '--json');
    expect(exit).toBe(0);
    expect(json()).toEqual({ ok: true, server: demo.url, loggedIn: false });
    expect(user.opened).toEqual([]);
  });

  it.each([
    ['a program', ['--', 'node', 'server.js']],
    ['an address that anyone on the way can read', ['http://192.168.0.7/mcp']],
    ['a token', ['https://example.com/mcp', '--token', 'x']],
  ])('refuses %s before anything is sent', async (_, words) => {
    expect((await run('auth', 'login', ...words)).exit).toBe(2);
    expect(existsSync(join(home, 'tokens'))).toBe(false);
  });

  it('opens one page for two commands at the same time', async () => {
    const [one, two] = await Promise.all([run('auth', 'login', setup.url), run('auth', 'login', setup.url)]);
    expect([one.exit, two.exit]).toEqual([0, 0]);
    expect(user.opened).toHaveLength(1);
    expect((await run('call', setup.url, 'read')).stdout).toBe('read\n');
  });

  it('fails if the tokens cannot be kept in the end, and says so', async () => {
    await setup.close();
    setup = await startProtected({
      // The disk breaks while the user logs in.
      beforeToken: async () => {
        await rm(join(home, 'tokens'), { recursive: true, force: true });
        await writeFile(join(home, 'tokens'), '');
      },
    });
    const { exit, stderr } = await run('auth', 'login', setup.url);
    expect(exit).not.toBe(0);
    expect(stderr).toMatch(/could not be kept|token store failed/);
    for (const secret of secrets()) expect(stderr).not.toContain(secret);
  });

  it('does not begin if the tokens cannot be kept', async () => {
    const file = join(home, 'a-file');
    await writeFile(file, '');
    vi.stubEnv('FULLMCP_HOME', join(file, 'folder'));
    const { exit, stderr } = await run('auth', 'login', setup.url);
    expect(exit).toBe(1);
    expect(stderr).toContain('Tokens cannot be kept in');
    expect(stderr).toContain('FULLMCP_HOME');
    expect(user.opened).toEqual([]);
    expect(setup.mcp.requests).toBe(0);
  });
});

describe('A command without a login', () => {
  it('never opens a page, and says how to log in', async () => {
    const { exit, stderr } = await run('list', setup.url);
    expect(exit).toBe(6);
    expect(stderr).toBe(`${setup.url} asks for a login. Log in with: fullmcp auth login ${setup.url}\n`);
    expect(user.opened).toEqual([]);
    expect(existsSync(join(home, 'tokens'))).toBe(false);
  });

  it('does not use a login over a token that was typed', async () => {
    await run('auth', 'login', setup.url);
    expect((await run('list', setup.url, '--token', 'wrong')).exit).toBe(6);
    expect(setup.issued).toContain('wrong');
  });

  it('works where no login is needed, even if the key of the tokens is broken', async () => {
    await run('auth', 'login', setup.url);
    await writeFile(join(home, 'token-key'), 'short');
    expect((await run('ping', demo.url, '--count', '1')).exit).toBe(0);
    const { exit, stderr } = await run('auth', 'status', setup.url);
    expect(exit).toBe(6);
    expect(stderr).toContain('is not the key of the tokens beside it');
  });
});

describe('Tokens that have ended', () => {
  it('are refreshed by any command, without a page', async () => {
    await run('auth', 'login', setup.url);
    await expire();
    expect((await run('auth', 'status', setup.url)).stdout).toContain('refreshed after');
    expect((await run('call', setup.url, 'read')).stdout).toBe('read\n');
    expect(setup.count('/token', 'refresh_token')).toBe(1);
    expect(user.opened).toHaveLength(1);
  });

  it('are refreshed once by several processes at the same time', async () => {
    await run('auth', 'login', setup.url);
    await expire();
    const env = { ...process.env, FULLMCP_HOME: home, FULLMCP_TOKEN_KEY: '', MCP_TOKEN: '' };
    const call = (): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, [program, 'call', setup.url, 'read'], { env });
    const ran = await Promise.all([call(), call(), call()]);
    expect(ran.map(({ stdout }) => stdout)).toEqual(['read\n', 'read\n', 'read\n']);
    expect(setup.count('/token', 'refresh_token')).toBe(1);
  });

  it('whose refresh is refused lead to a new login, not to a page', async () => {
    await run('auth', 'login', setup.url);
    const tokens = await keptTokens(setup.url);
    const changed = { ...tokens, expiresAt: Date.now() - 1000, refreshToken: 'revoked' };
    await loginStore().set(tokensKey(setup.url, 'user'), JSON.stringify(changed));
    const { exit, stderr } = await run('list', setup.url);
    expect(exit).toBe(6);
    expect(stderr).toContain('fullmcp auth login');
    expect(user.opened).toHaveLength(1);
  });
});

it('Many commands that make the key at the same time end up with one', async () => {
  await Promise.all(Array.from({ length: 20 }, prepareLoginStore));
  expect((await readdir(home)).filter((name) => name.startsWith('token-key'))).toEqual(['token-key']);
  await loginStore().set('x', 'y');
  expect(await loginStore().get('x')).toBe('y');
});

describe('fullmcp auth status and logout', () => {
  it('end with 1 without a login, and after the logout', async () => {
    const before = await run('auth', 'status', setup.url, '--json');
    expect(before.exit).toBe(1);
    expect(before.json()).toEqual({ ok: false, server: setup.url, loggedIn: false });
    await run('auth', 'login', setup.url);
    expect((await run('auth', 'status', setup.url)).stdout).toMatch(
      new RegExp(`^Logged in to ${setup.url}: by ${setup.issuer}, scopes .*mcp:read.*\\.\n$`),
    );
    const logout = await run('auth', 'logout', setup.url, '--json');
    expect(logout.json()).toEqual({ ok: true, server: setup.url, wasLoggedIn: true });
    expect(setup.count('/token/revocation')).toBeGreaterThan(0);
    expect((await run('auth', 'status', setup.url)).exit).toBe(1);
    expect((await run('list', setup.url)).exit).toBe(6);
  });

  it('delete the tokens even if the authorization server is gone, and say so', async () => {
    await run('auth', 'login', setup.url);
    await setup.close();
    const { exit, stderr } = await run('auth', 'logout', setup.url);
    expect(exit).toBe(6);
    expect(stderr).toContain('were deleted here');
    expect((await run('auth', 'status', setup.url)).exit).toBe(1);
  });

  it('do nothing without a login', async () => {
    const { exit, json } = await run('auth', 'logout', setup.url, '--json');
    expect(exit).toBe(0);
    expect(json()).toMatchObject({ wasLoggedIn: false });
    expect(existsSync(join(home, 'tokens'))).toBe(false);
  });
});

describe('fullmcp auth status without a target', () => {
  it('lists all logins that are kept, and no secret', async () => {
    const none = await run('auth', 'status');
    expect(none).toMatchObject({ exit: 0, stdout: '', stderr: expect.stringContaining('No login is kept') });
    expect((await run('auth', 'status', '--json')).json()).toEqual({ ok: true, logins: [] });
    expect(existsSync(join(home, 'tokens'))).toBe(false);

    await run('auth', 'login', setup.url);
    const secret = 'https://example.com/mcp?key=sesame&key=open&x';
    const tokens = { ...(await keptTokens(setup.url)), refreshToken: undefined, expiresAt: 1 };
    await loginStore().set(tokensKey(secret, 'user'), JSON.stringify(tokens));
    const listed = await run('auth', 'status');
    const lines = listed.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(`Logged in to ${setup.url}: by ${setup.issuer}`);
    expect(lines[1]).toMatch(
      /^Not logged in to https:\/\/example\.com\/mcp\?key=.*the login by .* has ended\.$/,
    );
    const json = await run('auth', 'status', '--json');
    const { logins } = json.json<{ logins: readonly object[] }>();
    expect(logins).toMatchObject([
      { server: setup.url, loggedIn: true, issuer: setup.issuer, canRefresh: true },
      { loggedIn: false, issuer: setup.issuer },
    ]);
    for (const hidden of [...secrets(), 'sesame', 'open'])
      expect(listed.stdout + json.stdout).not.toContain(hidden);

    await run('auth', 'logout', setup.url);
    expect((await run('auth', 'status', '--json')).json<{ logins: readonly object[] }>().logins).toHaveLength(
      1,
    );
  });

  it('lists every login of many commands at the same time', async () => {
    await prepareLoginStore();
    const tokens = JSON.stringify({
      ...{ issuer: 'https://issuer.example', clientId: 'c', accessToken: 'secret', tokenType: 'bearer' },
      ...{ scopes: ['a\u001b[2J', 'b\u202e'], asked: [] },
    });
    const servers = Array.from({ length: 12 }, (_, at) => `https://${at}.example/mcp`);
    await Promise.all(servers.map((server) => loginStore().set(tokensKey(server, 'user'), tokens)));
    const { stdout } = await run('auth', 'status', '--json');
    const { logins } = JSON.parse(stdout) as { logins: { server: string }[] };
    expect(logins.map(({ server }) => server).sort()).toEqual([...servers].sort());
    const lines = (await run('auth', 'status')).stdout;
    for (const hidden of ['\u001b', '\u202e', 'secret']) expect(lines).not.toContain(hidden);
    expect(lines.trimEnd().split('\n')).toHaveLength(12);
  });

  it('lists the others if one cannot be read, and says so if the key is another one', async () => {
    await run('auth', 'login', setup.url);
    const broken = tokensKey('https://broken.example/mcp', 'user');
    await loginStore().set(broken, '{}');
    const folder = join(home, 'tokens', createHash('sha256').update(broken).digest('hex').slice(0, 40));
    for (const name of await readdir(folder)) await writeFile(join(folder, name), 'nonsense');
    const { logins } = (await run('auth', 'status', '--json')).json<{ logins: readonly object[] }>();
    expect(logins).toMatchObject([
      { server: setup.url, loggedIn: true },
      {
        server: 'https://broken.example/mcp',
        loggedIn: false,
        problem: expect.stringContaining('cannot be decrypted'),
      },
    ]);
    vi.stubEnv('FULLMCP_TOKEN_KEY', 'x'.repeat(40));
    const { exit, stdout, stderr } = await run('auth', 'status');
    expect({ exit, stdout }).toEqual({ exit: 6, stdout: '' });
    expect(stderr).toContain('the key is another one');
  });

  it('reads the logins of a folder that cannot be written', async () => {
    await run('auth', 'login', setup.url);
    const folders = [home, ...(await readdir(home, { recursive: true })).map((name) => join(home, name))];
    for (const path of folders) if ((await stat(path)).isDirectory()) await chmod(path, 0o500);
    try {
      expect((await run('auth', 'status')).stdout).toContain(`Logged in to ${setup.url}`);
      expect((await run('call', setup.url, 'read')).stdout).toBe('read\n');
    } finally {
      for (const path of folders)
        if (existsSync(path) && (await stat(path)).isDirectory()) await chmod(path, 0o700);
    }
  });
});

it('fullmcp run serves the servers of a config with the logins that are kept, and never opens a page', async () => {
  const config = join(home, 'mcp.json');
  await writeFile(
    config,
    JSON.stringify({ mcpServers: { shop: { url: setup.url }, demo: { url: demo.url } } }),
  );
  const client = await connect({
    command: process.execPath,
    args: [program, 'run', config],
    env: { FULLMCP_HOME: home, FULLMCP_TOKEN_KEY: '', MCP_TOKEN: 'for-another-server' },
    stderr: () => undefined,
  });
  try {
    const names = async () => (await client.tools().all()).map(({ name }) => name);
    expect((await names()).filter((name) => name.startsWith('shop_'))).toEqual([]);
    await run('auth', 'login', setup.url);
  } finally {
    await client.close();
  }
  const again = await connect({
    command: process.execPath,
    args: [program, 'run', config],
    env: { FULLMCP_HOME: home, FULLMCP_TOKEN_KEY: '' },
    stderr: () => undefined,
  });
  try {
    expect((await again.callTool('shop_read')).text).toBe('read');
    expect((await again.tools().all()).some(({ name }) => name.startsWith('demo_'))).toBe(true);
  } finally {
    await again.close();
  }
  expect(setup.issued).not.toContain('for-another-server');
});
