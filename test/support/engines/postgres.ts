import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { freePort } from '../free-port.js';
import { isAlive } from '../processes.js';
import { until } from '../until.js';

/** A Postgres server of its own, in a temporary folder. It ends with this process, however this process ends. */
export interface PostgresServer {
  readonly port: number;
  /** The URL of the database `postgres`, as the superuser or as another user. */
  readonly url: string;
  /** Starts the server again, with its data, after `kill` or `stop`. Resolves when it accepts connections. */
  readonly start: () => Promise<void>;
  /** Ends the server and all of its processes at once, as a crash does. */
  readonly kill: () => Promise<void>;
  /** Shuts the server down; open connections are ended. */
  readonly stop: () => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Stops all processes of the server: connections stay open, and nothing answers. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Runs a statement as the superuser. */
  readonly query: <Row = Record<string, unknown>>(text: string, values?: unknown[]) => Promise<Row[]>;
  /** Stops the server and removes its folder. */
  readonly remove: () => Promise<void>;
}

const folder = findBinaries();

/** Runs tests with a server. Without Postgres on this machine they are skipped, but not in CI, where they fail. */
export function describeWithPostgres(
  name: string,
  body: (server: () => PostgresServer) => void,
  settings: readonly string[] = [],
): void {
  if (folder === undefined && process.env['CI'] === undefined) {
    console.warn(`SKIPPED, because no Postgres was found on this machine: ${name}`);
    describe.skip(name, () => body(() => undefined as never));
    return;
  }
  describe(name, () => {
    let server: PostgresServer | undefined;
    beforeAll(async () => {
      server = await startPostgres(settings);
    }, 60_000);
    afterAll(async () => server?.remove());
    body(() => server as PostgresServer);
  });
}

/** Starts a server with settings like `fsync=off`. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  if (folder === undefined)
    throw new Error('No Postgres was found on this machine. Install it, or set POSTGRES_BIN.');
  const identity = identityOfServer();
  const home = mkdtempSync(join(tmpdir(), 'fullmcp-postgres-'));
  if (identity.uid !== undefined && identity.gid !== undefined) chownSync(home, identity.uid, identity.gid);
  const data = join(home, 'data');
  const initialize = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(folder, 'initdb'), initialize, {
    ...identity,
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let running: { readonly shell: ChildProcess; readonly pid: number } | undefined;

  const query = async <Row>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  };
  const launch = async (): Promise<void> => {
    const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`, ...settings];
    // The pipe is closed when this process ends in any way, and the shell then ends the server.
    const script = '"$@" & p=$!; echo $p; cat >/dev/null; kill -9 $p';
    const args = ['-D', data, ...options.flatMap((option) => ['-c', option])];
    const shell = spawn('sh', ['-c', script, 'sh', join(folder as string, 'postgres'), ...args], {
      ...identity,
      cwd: home,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    shell.stdin?.on('error', () => undefined);
    const [pid] = (await once(createInterface({ input: shell.stdout as NodeJS.ReadableStream }), 'line')) as [
      string,
    ];
    running = { shell, pid: Number(pid) };
  };
  const start = async (): Promise<void> => {
    await until('Postgres accepts connections', async () => {
      // After a crash, processes of the old server may keep the new one from starting for a moment.
      if (running === undefined || !isAlive(running.pid)) await launch();
      return query('SELECT 1').then(
        () => true,
        () => false,
      );
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (running === undefined) return;
    const { shell, pid } = running;
    const all = signal === 'SIGKILL' ? [pid, ...childrenOf(pid)] : [pid];
    for (const each of all) send(each, signal);
    await until('Postgres has ended', () => !all.some(isAlive));
    const ended = once(shell, 'exit');
    shell.stdin?.end();
    await ended;
    running = undefined;
  };
  const signalAll = (signal: NodeJS.Signals): void => {
    const pid = (running as { readonly pid: number }).pid;
    for (const each of [pid, ...childrenOf(pid)]) send(each, signal);
  };

  await start();
  return {
    port,
    url,
    start,
    query,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    async restart() {
      await end('SIGINT');
      await start();
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async remove() {
      await end('SIGKILL');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

let schemas = 0;

/** A name for a schema that no other test uses. */
export function freshSchema(): string {
  return `t${process.pid}_${++schemas}_${Math.random().toString(36).slice(2, 8)}`;
}

function findBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    process.env['POSTGRES_BIN'] ?? '',
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')));
}

// Postgres refuses to run as root, and wants a user that the system knows.
function identityOfServer(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
