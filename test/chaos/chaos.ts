import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { startLoad } from './load.js';
import { startBalancer } from './proxy.js';
import { Replicas } from './replicas.js';
import { type Violations, verify } from './verify.js';

/** How often each signal strikes, and what the replicas run on. */
export interface ChaosPlan {
  readonly engine: string;
  readonly url: string;
  /** Further variables of the replicas' environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly kills: number;
  readonly terminations: number;
  readonly pauses: number;
}

const REPLICAS = 3;
const CLIENTS = 16;
/** Longer than the lease of a replica, which is 2 s. */
const PAUSE_MS = 3000;
const BETWEEN_MS = 400;

/** Runs replicas under load, kills and pauses them, and compares what clients got with what happened. */
export async function chaos({
  engine,
  url,
  env,
  kills,
  terminations,
  pauses,
}: ChaosPlan): Promise<Violations> {
  const ledger = join(mkdtempSync(join(tmpdir(), 'fullmcp-chaos-')), 'ledger');
  writeFileSync(ledger, '');
  const replicas = new Replicas({ MCP_CLUSTER_URL: url, MCP_SECRET: 'c'.repeat(40), LEDGER: ledger, ...env });
  await replicas.start(REPLICAS);
  const balancer = await startBalancer(replicas.ports);
  const load = startLoad(balancer.url, CLIENTS);
  const strikes: NodeJS.Signals[] = shuffle([
    ...Array<NodeJS.Signals>(kills).fill('SIGKILL'),
    ...Array<NodeJS.Signals>(terminations).fill('SIGTERM'),
    ...Array<NodeJS.Signals>(pauses).fill('SIGSTOP'),
  ]);
  for (const signal of strikes) {
    await delay(BETWEEN_MS * (0.5 + Math.random()));
    // At least one replica is left, so that the load goes on.
    while (replicas.ports().length < 2) await delay(50);
    const child = replicas.strike(signal, Math.random);
    if (signal === 'SIGSTOP') setTimeout(() => child?.kill('SIGCONT'), PAUSE_MS);
  }
  await delay(PAUSE_MS);
  const results = await load.stop();
  await balancer.close();
  await replicas.close();
  const violations = verify(ledger, results);
  const { figures } = results;
  report(
    `${engine}: ${kills} SIGKILL, ${terminations} SIGTERM, ${pauses} SIGSTOP; ${replicas.starts} starts; ${figures.jobs} jobs, ${figures.payments} payments, ${figures.questions} questions, ${figures.calls} calls, ${figures.streams} streams, ${figures.failed} failed with an error; ${violations.repeated} steps cut off and repeated; lost ${violations.lost.length}, doubled ${violations.doubled.length}, mixed ${violations.mixed.length}, rekeyed ${violations.rekeyed.length}`,
  );
  return violations;
}

/** Prints a line, and appends it to the file that `npm run chaos` reads. */
function report(line: string): void {
  console.log(line);
  const file = process.env['CHAOS_REPORT'];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** The number of strikes: `CHAOS` times the number that CI can bear. */
export function times(count: number): number {
  return Math.max(1, Math.round(count * Number(process.env['CHAOS'] ?? '1')));
}
