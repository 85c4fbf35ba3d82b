import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { demoServer } from '../../cli/support/demo.js';
import { fullmcp, type Ran, type RunOptions } from '../../cli/support/run-cli.js';
import { until } from '../../support/until.js';
import { type Visit, visit } from './support/browser.js';

const demo = demoServer();

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'fullmcp-home-'));
  vi.stubEnv('FULLMCP_HOME', home);
  vi.stubEnv('MCP_SERVER_URL', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

interface Running {
  readonly url: string;
  readonly user: Visit;
  /** Stops the command as Ctrl+C does. */
  readonly stop: () => Promise<Ran>;
}

/** Runs a command in this process until it has printed the address of the inspector. */
async function running(words: readonly string[], options: RunOptions = {}): Promise<Running> {
  const stopping = new AbortController();
  let found!: (url: string) => void;
  const url = new Promise<string>((resolve) => {
    found = resolve;
  });
  const look = (text: string): void => {
    const [address] = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{11}\/\?token=[^\s"]+/.exec(text) ?? [];
    if (address !== undefined) found(address);
  };
  const ended = fullmcp(words, { signal: stopping.signal, onStdout: look, onStderr: look, ...options });
  const printed = await Promise.race([
    url,
    ended.then(({ stderr, stdout }) => Promise.reject(new Error(stderr + stdout))),
  ]);
  return {
    url: printed,
    user: await visit(printed.replace(/#.*/, '')),
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

interface Seen {
  readonly connections: readonly {
    id: string;
    status: string;
    name: string;
    address: string;
    typed: string;
    failure?: { message: string };
  }[];
  readonly first?: { connection?: string; tool?: string };
  readonly found: readonly { id: string; source: string; address: string; lastFailure?: string }[];
  readonly mayConnect: boolean;
}

async function statusOf(user: Visit, status: string): Promise<Seen> {
  let seen = {} as Seen;
  await until(`the first connection is ${status}`, async () => {
    seen = (await user.get('api/snapshot')).json<Seen>();
    return seen.connections[0]?.status === status;
  });
  return seen;
}

interface SeenStory {
  readonly title: string;
  readonly state: string;
  readonly earlier?: object;
}

async function storiesOf(user: Visit): Promise<readonly SeenStory[]> {
  return (await user.get('api/snapshot')).json<{ stories: readonly SeenStory[] }>().stories;
}

/** The calls that an inspector shows of earlier visits. */
async function earlierTitles(user: Visit): Promise<readonly string[]> {
  return (await storiesOf(user)).flatMap(({ title, earlier }) => (earlier === undefined ? [] : [title]));
}

/** Calls a tool, and waits for its end. */
async function add(user: Visit): Promise<void> {
  const [connection] = (await statusOf(user, 'ready')).connections;
  const input = { connection: connection?.id, tool: 'add', args: { a: 2, b: 40 } };
  expect((await user.post('api/run/call', input)).status).toBe(200);
  await until('the call is over', async () =>
    (await storiesOf(user)).some(({ title, state }) => title === 'add' && state === 'ok'),
  );
}

describe('fullmcp inspect', () => {
  it('prints the address on stdout, connects, and ends with Ctrl+C', async () => {
    const { url, user, stop } = await running(['inspect', demo.url, '--no-open']);
    const { connections, first, mayConnect } = await statusOf(user, 'ready');
    expect(connections).toMatchObject([{ name: 'The fullmcp demo', address: demo.url, typed: demo.url }]);
    expect([first?.connection, mayConnect]).toEqual([connections[0]?.id, true]);
    const { exit, stdout, stderr } = await stop();
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: `${url}\n`,
      stderr: 'The inspector runs until you press Ctrl+C.\n',
    });
    await expect(user.get('')).rejects.toThrow('ECONNREFUSED');
  });

  it('prints the address as JSON, and opens a tool whose form is filled in', async () => {
    const { url, user, stop } = await running([
      'inspect',
      demo.url,
      '--tool',
      'add',
      'a=2',
      'b=4 0',
      '--json',
    ]);
    expect(url).toMatch(/#\/tools\/add\?a=2&b=4\+0$/);
    const { first } = await statusOf(user, 'ready');
    expect(first?.tool).toBe('add');
    const { json, stderr } = await stop();
    expect(json()).toEqual({ ok: true, url, port: Number(new URL(url).port) });
    expect(stderr).toBe('');
  });

  it('without a target opens the page that asks for one, or the server of MCP_SERVER_URL', async () => {
    const empty = await running(['inspect']);
    expect((await empty.user.get('api/snapshot')).json<Seen>()).toMatchObject({
      connections: [],
      mayConnect: true,
    });
    await empty.stop();
    vi.stubEnv('MCP_SERVER_URL', demo.url);
    const named = await running(['inspect']);
    expect((await statusOf(named.user, 'ready')).connections[0]?.address).toBe(demo.url);
    await named.stop();
  });

  it('starts a file with fullmcp run, which reports the steps of its handlers', async () => {
    const { user, stop } = await running(['inspect', 'examples/demo/server.ts', '--no-open']);
    const { connections } = await statusOf(user, 'ready');
    expect(connections).toMatchObject([{ address: 'examples/demo/server.ts', seesJournal: true }]);
    await stop();
  });

  it('shows the calls of an earlier visit in the same folder, unless --no-history is given', async () => {
    const before = await readdir('.');
    const words = ['inspect', demo.url, '--no-open'];
    const first = await running(words);
    await add(first.user);
    await first.stop();

    const second = await running(words);
    await statusOf(second.user, 'ready');
    expect(await earlierTitles(second.user)).toEqual(['add']);
    await second.stop();
    const without = await running([...words, '--no-history']);
    await statusOf(without.user, 'ready');
    expect(await earlierTitles(without.user)).toEqual([]);
    expect((await without.user.get('api/snapshot')).json<{ history?: object }>().history).toBeUndefined();
    await without.stop();
    // Nothing is written into the project.
    expect(await readdir('.')).toEqual(before);
    expect(await readdir(home)).toContain('inspector-history');
  });

  it('stays open if nothing listens at the target, and says so', async () => {
    const { user, stop } = await running(['inspect', 'http://localhost:1/mcp', '--no-open']);
    const { connections } = await statusOf(user, 'failed');
    expect(connections[0]?.failure?.message).toBeTruthy();
    expect((await stop()).exit).toBe(0);
  });

  it('remembers the servers that were used, without their tokens, and forgets them', async () => {
    const { user, stop } = await running(['inspect', demo.url, '--token', 's3cret-token', '--no-open']);
    await statusOf(user, 'ready');
    let used: Seen['found'] = [];
    await until('it is remembered', async () => {
      used = (await user.get('api/snapshot'))
        .json<Seen>()
        .found.filter(({ source }) => source === 'used before');
      return used.length === 1;
    });
    expect(used).toMatchObject([{ address: demo.url }]);
    expect(await readFile(join(home, 'inspector-servers.json'), 'utf8')).not.toContain('s3cret');
    expect((await user.post('api/run/forgetServer', { id: used[0]?.id })).status).toBe(200);
    expect(await readFile(join(home, 'inspector-servers.json'), 'utf8')).not.toContain(demo.url);
    await stop();
  });

  it('opens the browser of a person on a desktop, and not with --no-open', async () => {
    vi.stubEnv('DISPLAY', ':0');
    for (const name of ['CI', 'SSH_CONNECTION', 'SSH_TTY']) vi.stubEnv(name, '');
    const opened: string[] = [];
    const openPage = async (url: string): Promise<void> => void opened.push(url);
    const { url, stop } = await running(['inspect'], { terminal: true, openPage });
    await stop();
    await (await running(['inspect', '--no-open'], { terminal: true, openPage })).stop();
    await (await running(['inspect'], { openPage })).stop();
    vi.stubEnv('CI', 'true');
    await (await running(['inspect'], { terminal: true, openPage })).stop();
    expect(opened).toEqual([url]);
  });

  it('says that the port is in use, and ends with 3', async () => {
    const other = createHttpServer().listen(0, '127.0.0.1');
    await new Promise((done) => other.once('listening', done));
    const { port } = other.address() as AddressInfo;
    const { exit, stderr } = await fullmcp(['inspect', '--port', String(port)]);
    other.close();
    expect([exit, stderr]).toEqual([
      3,
      `Port ${port} is in use. Choose another one for the inspector, or none to get a free one.\n`,
    ]);
  });

  it.each([
    [['inspect', 'none.ts', '--no-open'], 'There is no file none.ts'],
    [['inspect', 'http://localhost:1', 'a=1'], '"a=1" needs a tool: add --tool <name>.'],
    [['inspect', 'http://localhost:1', '--tool', 'x', 'a'], '"a" is not name=value.'],
    [['inspect', '--no-open', 'http://localhost:1', '-o', 'x'], '--output is for the manifest'],
    [['inspect', '--port', '70000'], '--port must be a whole number'],
  ])('refuses %j before anything starts', async (words, message) => {
    const { exit, stdout, stderr } = await fullmcp(words);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('fullmcp dev', () => {
  it('starts the inspector beside the server, which shows the steps of its handlers', async () => {
    const { url, user, stop } = await running(['dev', 'examples/demo/server.ts', '--port', '0', '--json']);
    const { connections } = await statusOf(user, 'ready');
    expect(connections).toMatchObject([{ name: 'The fullmcp demo', seesJournal: true }]);
    const { json, exit } = await stop();
    expect(json()).toMatchObject({ ok: true, url: connections[0]?.address, inspector: url });
    expect(exit).toBe(0);
  });

  it('shows the calls of an earlier visit, also if it listens on another port', async () => {
    const words = ['dev', 'examples/demo/server.ts', '--port', '0'];
    const first = await running(words);
    await add(first.user);
    await first.stop();
    const second = await running(words);
    await statusOf(second.user, 'ready');
    expect(await earlierTitles(second.user)).toEqual(['add']);
    await second.stop();
  });

  it('prints the address of the inspector on stderr, and none with --no-inspector', async () => {
    const { url, stop } = await running(['dev', 'examples/demo/server.ts', '--port', '0']);
    const { stdout, stderr } = await stop();
    expect(stderr).toContain(`Inspector: ${url}\n`);
    expect(stdout).toMatch(/^http:\/\/localhost:\d+\/mcp\n$/);
    const stopping = new AbortController();
    const plain = await fullmcp(['dev', 'examples/demo/server.ts', '--port', '0', '--no-inspector'], {
      signal: stopping.signal,
      onStdout: () => stopping.abort(),
    });
    expect(plain.stderr).not.toContain('token=');
  });
});

it('fullmcp --help loads nothing of the inspector', async () => {
  const seen = new Set<string>();
  const texts: string[] = [];
  async function follow(file: string): Promise<void> {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(file, 'utf8');
    texts.push(text);
    for (const [, from = ''] of text.matchAll(/(?:^|;)(?:import|export)\b[^;'"(]*["'](\.[^'"]+)["']/gm))
      await follow(join(dirname(file), from));
  }
  // The first file only checks the version of Node, and then loads the program.
  const first = await readFile('dist/cli/fullmcp.js', 'utf8');
  const program = /import\(["'`](\.[^'"`]+)["'`]\)/.exec(first)?.[1];
  await follow(join('dist/cli', program ?? 'no program is loaded'));
  expect(seen.size).toBeGreaterThan(3);
  for (const text of texts) expect(text).not.toContain('fullmcp-inspector-');
});
