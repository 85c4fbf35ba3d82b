import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ended } from '../../support/processes.js';
import { type Passed, startTestBalancer, type TestBalancer } from './balancer.js';

const program = fileURLToPath(new URL('./fixtures/replica.mjs', import.meta.url));
const COUNT = 3;

/** The servers that each replica has. */
export type ServerName = 'asking' | 'interop' | 'work' | 'limited';

/** A line that a replica wrote for the test. */
interface Entry extends Readonly<Record<string, unknown>> {
  readonly what: string;
  readonly replica: number;
}

/** Three processes that share an engine, and a round-robin balancer in front of each of their servers. */
export interface ReplicaSet {
  /** The URL of a server at its balancer. */
  readonly url: (server: ServerName) => string;
  /** The URL of a server at one replica, as a balancer with stickiness would choose it. */
  readonly direct: (server: ServerName, replica: number) => string;
  /** Breaks the connections of the requests that a balancer has passed on and that are not answered yet. */
  readonly cut: (server: ServerName) => void;
  /** The requests that a balancer has passed on since `clear`. */
  readonly passed: (server: ServerName) => readonly Passed[];
  /** The lines of this kind that the replicas have written since `clear`. */
  readonly entries: (what: string) => readonly Entry[];
  /** Sends a signal to one replica. */
  readonly signal: (replica: number, signal: NodeJS.Signals) => void;
  /** Kills one replica (`kill -9`). The balancers notice that it refuses connections. */
  readonly kill: (replica: number) => Promise<void>;
  /** Starts a replica in the place of one that was killed. */
  readonly replace: (replica: number) => Promise<void>;
  /** Forgets the requests and the lines. */
  readonly clear: () => void;
  /** Stops the processes. Fails if one of them did not end in an orderly way. */
  readonly close: () => Promise<void>;
}

/** Starts three replicas in an environment that names their engine. */
export async function startReplicaSet(engine: Readonly<Record<string, string>>): Promise<ReplicaSet> {
  const ledger = mkdtempSync(join(tmpdir(), 'fullmcp-replicas-'));
  const file = join(ledger, 'effects');
  const env = {
    ...process.env,
    ...engine,
    LEDGER: ledger,
    MCP_SECRET: 'the secret that all replicas of this test have',
  };
  const start = (at: number): Promise<Replica> => startReplica({ ...env, REPLICA: String(at) });
  const replicas = await Promise.all(Array.from({ length: COUNT }, (_, at) => start(at)));
  const balancers = new Map<string, TestBalancer>();
  for (const server of Object.keys(replicas[0]?.urls ?? {}))
    balancers.set(server, await startTestBalancer(() => replicas.map(({ urls }) => urls[server] as string)));
  const balancer = (server: ServerName): TestBalancer => balancers.get(server) as TestBalancer;
  return {
    url: (server) => balancer(server).url,
    direct: (server, replica) => replicas[replica]?.urls[server] as string,
    cut: (server) => balancer(server).cut(),
    passed: (server) => balancer(server).passed,
    entries: (what) => read(file).filter((entry) => entry.what === what),
    signal: (replica, signal) => void replicas[replica]?.child.kill(signal),
    async kill(replica) {
      const { child } = replicas[replica] as Replica;
      await ended(child, () => child.kill('SIGKILL'));
    },
    async replace(replica) {
      replicas[replica] = await start(replica);
    },
    clear() {
      for (const { passed } of balancers.values()) passed.length = 0;
      if (existsSync(file)) truncateSync(file);
    },
    async close() {
      await Promise.all([...balancers.values()].map((each) => each.close()));
      const codes = await Promise.all(replicas.map(({ child }) => ended(child, () => child.kill('SIGTERM'))));
      rmSync(ledger, { recursive: true, force: true });
      if (codes.some((code) => code !== 0)) throw new Error(`The replicas ended with ${codes.join(', ')}.`);
    },
  };
}

interface Replica {
  readonly child: ChildProcess;
  readonly urls: Readonly<Record<string, string>>;
}

async function startReplica(env: NodeJS.ProcessEnv): Promise<Replica> {
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`A replica ended at once, with ${code}.`))),
  ])) as [string];
  return { child, urls: JSON.parse(line) };
}

function read(file: string): readonly Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}
