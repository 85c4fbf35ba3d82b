// Starts redis-server for tests: on a free port, in a temporary folder. It ends with the test process, however that ends.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { freePort } from '../free-port.js';
import { isAlive } from '../processes.js';
import { until } from '../until.js';

export interface RedisServerOptions {
  /** Whether the server is a cluster of one node, so that keys of two slots cannot be used together; or its slots in a larger one. */
  readonly cluster?: boolean | { readonly slots: readonly [first: number, last: number] };
  readonly password?: string;
  /** Further settings, as in redis.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

const isInstalled = spawnSync('redis-server', ['--version']).status === 0;

/** `describe` for tests that need redis-server. Where it is missing they are skipped with a warning; on CI they fail. */
export const describeWithRedis: (name: string, tests: () => void) => void =
  isInstalled || process.env['CI'] !== undefined
    ? describe
    : (name, tests) => {
        console.warn(`SKIPPED, because redis-server is not installed: ${name}`);
        describe.skip(name, tests);
      };

/** Starts a server and waits until it is ready. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  if (!isInstalled) throw new Error('redis-server is not installed.');
  const server = new RedisServer(options, await freePort());
  await server.start();
  return server;
}

/** Starts three nodes that are one cluster. */
export async function startRedisCluster(options: RedisServerOptions = {}): Promise<readonly RedisServer[]> {
  const slots = [
    [0, 5460],
    [5461, 10_922],
    [10_923, 16_383],
  ] as const;
  const nodes = await Promise.all(
    slots.map((range) => startRedis({ ...options, cluster: { slots: range } })),
  );
  for (const node of nodes.slice(1))
    await node.command('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]?.port));
  await until('all nodes agree', async () =>
    (await Promise.all(nodes.map((node) => node.isClusterUp()))).every((isUp) => isUp),
  );
  return nodes;
}

// The shell ends the server when its input is closed, and the system closes that when the test process ends.
const GUARD = '"$@" >/dev/null 2>&1 & p=$!; echo $p; cat >/dev/null; kill -9 $p 2>/dev/null';

export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'redis-'));
  readonly #options: RedisServerOptions;
  #guard: ChildProcess | undefined;
  #pid = 0;

  constructor(options: RedisServerOptions, port: number) {
    this.#options = options;
    this.port = port;
  }

  get url(): string {
    const { password } = this.#options;
    const user = password === undefined ? '' : `default:${encodeURIComponent(password)}@`;
    return `redis://${user}127.0.0.1:${this.port}`;
  }

  /** Starts the server, with the data that it had before. */
  async start(): Promise<void> {
    const { cluster = false, password, settings = {} } = this.#options;
    const all: Record<string, string> = {
      port: String(this.port),
      bind: '127.0.0.1',
      dir: this.#folder,
      save: '',
      appendonly: 'yes',
      appendfsync: 'everysec',
      // Without it, a node that no other node has met does not know its own address.
      ...(cluster && { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' }),
      ...(password !== undefined && { requirepass: password }),
      ...settings,
    };
    const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
    const guard = spawn('sh', ['-c', GUARD, 'sh', 'redis-server', ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#guard = guard;
    const [pid] = (await once(createInterface({ input: guard.stdout as NodeJS.ReadableStream }), 'line')) as [
      string,
    ];
    this.#pid = Number(pid);
    await until('Redis replies', async () => (await this.command('PING').catch(() => undefined)) === 'PONG');
    if (cluster === false) return;
    const [first, last] = cluster === true ? [0, 16_383] : cluster.slots;
    // After a restart the node knows its slots.
    await this.command('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last)).catch(() => undefined);
    if (cluster === true) await until('the cluster is up', () => this.isClusterUp());
  }

  async isClusterUp(): Promise<boolean> {
    return String(await this.command('CLUSTER', 'INFO')).includes('cluster_state:ok');
  }

  /** Sends a command over a connection of its own. */
  async command(...command: readonly string[]): Promise<unknown> {
    const { password } = this.#options;
    const [name = '', ...args] = command;
    const client = new Redis({
      port: this.port,
      host: '127.0.0.1',
      ...(password !== undefined && { password }),
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  /** Shuts the server down in an orderly way, and keeps its data. */
  async shutDown(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Ends the server at once, as a crash of its process would. */
  async kill(): Promise<void> {
    this.resume();
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    process.kill(this.#pid, signal);
    await until('the server is dead', () => !isAlive(this.#pid));
    await this.#endGuard();
  }

  /** Stops the server in the middle of what it does; it keeps its connections. */
  pause(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    if (isAlive(this.#pid)) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #endGuard(): Promise<void> {
    const guard = this.#guard;
    if (guard === undefined || guard.exitCode !== null) return;
    const exit = once(guard, 'exit');
    guard.stdin?.end();
    await exit;
  }
}
