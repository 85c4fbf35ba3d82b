import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, type SuiteAPI } from 'vitest';
import { freePort } from '../free-port.js';
import { isAlive } from '../processes.js';
import { until } from '../until.js';

/** A nats-server of a test, with a folder of its own. */
export interface NatsEngine {
  readonly url: string;
  readonly port: number;
  /** Ends the process as a power failure would end it, without losing the page cache. */
  readonly kill: () => Promise<void>;
  /** Shuts the process down in an orderly way. */
  readonly shutDown: () => Promise<void>;
  /** Starts the process again, on the same port and with the same folder. */
  readonly start: () => Promise<void>;
  /** Kills the process and starts it again. */
  readonly restart: () => Promise<void>;
  /** Stops the process with SIGSTOP, and lets it continue. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
}

export interface NatsEngineOptions {
  /** More lines for the configuration. */
  readonly config?: string;
  /** Whether JetStream is enabled. Default: true. */
  readonly jetStream?: boolean;
}

const isInstalled = spawnSync('nats-server', ['--version']).status === 0;
if (!isInstalled && process.env['CI'])
  throw new Error('nats-server is not installed. Install it: apt-get install nats-server');
if (!isInstalled) console.warn('SKIPPED: the tests of NATS need nats-server in PATH.');

/** `describe`, or `describe.skip` where no nats-server is installed. */
export const describeWithNats: SuiteAPI | SuiteAPI['skip'] = isInstalled ? describe : describe.skip;

/** Starts a nats-server before the tests of a suite, and stops it after them. */
export function useNats(options?: NatsEngineOptions): { readonly engine: NatsEngine } {
  const used = {} as { engine: NatsEngine };
  beforeAll(async () => {
    used.engine = await startNats(options);
  });
  afterAll(() => used.engine?.stop());
  return used;
}

/** Starts a nats-server on a free port. It dies with the test's process. */
export async function startNats({
  config = '',
  jetStream = true,
}: NatsEngineOptions = {}): Promise<NatsEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-nats-'));
  const port = await freePort();
  const file = join(folder, 'nats.conf');
  const storage = jetStream ? `jetstream { store_dir: "${folder}/js", max_mem: 1G, max_file: 4G }` : '';
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${storage}\n${config}\n`);
  let child: ChildProcess;
  let pid = 0;

  async function start(): Promise<void> {
    // The shell ends the engine when its input closes, which it does however this process dies.
    child = spawn(
      'sh',
      ['-c', `nats-server -c '${file}' 2>/dev/null & p=$!; echo $p; cat >/dev/null; kill -9 $p`],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    pid = await new Promise<number>((resolve) => child.stdout?.once('data', (data) => resolve(Number(data))));
    await until('NATS answers', () => answers(port, jetStream));
  }

  const kill = (): Promise<void> => end('SIGKILL');

  async function end(signal: NodeJS.Signals): Promise<void> {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    process.kill(pid, signal);
    await until('NATS has ended', () => !isAlive(pid));
    child.stdin?.end();
    await exited;
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    kill,
    shutDown: () => end('SIGINT'),
    start,
    async restart() {
      await kill();
      await start();
    },
    async pause() {
      process.kill(pid, 'SIGSTOP');
      await until('NATS has stopped', () => /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    },
    resume: () => void process.kill(pid, 'SIGCONT'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await kill().catch(() => undefined);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Whether the greeting of the server arrives. */
function answers(port: number, jetStream: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1');
    const end = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(500, () => end(false));
    socket.once('error', () => end(false));
    socket.once('data', (data) => end(!jetStream || String(data).includes('"jetstream":true')));
  });
}
