import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { seeded } from '../../src/testing/faults/seeded.js';
import { until } from '../support/until.js';
import { startBalancer } from './balancer.js';
import type { History, Observation, TransferRow } from './history.js';
import { Ledger } from './ledger.js';
import { CALLERS } from './load/clients.js';
import { startLoad } from './load/load.js';
import { Replicas } from './replicas.js';
import { type StrikeCounts, strikeAll } from './strikes.js';
import { runsOf, type Violations, verify } from './verify.js';

/** How often each signal strikes, and what the replicas run on. */
export interface ChaosPlan extends StrikeCounts {
  readonly engine: string;
  readonly url: string;
  /** The time after which no further strike begins. */
  readonly limitMs: number;
  /** Further variables of the replicas' environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Reads the rows that steps have written in transactions. */
  readonly rows?: () => Promise<readonly TransferRow[]>;
}

/** The result of a kill test. */
export interface ChaosResult {
  readonly violations: Violations;
  /** The replicas that did not start. */
  readonly failures: readonly string[];
  /** The counts of what clients did and saw, none of which may be zero. */
  readonly figures: Readonly<Record<string, number>>;
}

/** The kinds of things that clients must have seen before a run is over. */
const SEEN: readonly Observation['saw'][] = [
  'job',
  'payment',
  'result',
  'question',
  'stream',
  'announced',
  'read',
];
const REPLICAS = 3;
const CLIENTS = 16;

/** Runs replicas under load, kills and pauses them, and compares what clients got with what happened. */
export async function chaos(plan: ChaosPlan): Promise<ChaosResult> {
  const { engine, url, env, limitMs, rows } = plan;
  const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const random = seeded(seed);
  const folder = mkdtempSync(join(tmpdir(), `fullmcp-chaos-${engine}-`));
  const board = join(folder, 'board');
  mkdirSync(board);
  const ledger = new Ledger(join(folder, 'ledger'));
  const replicas = new Replicas(
    { MCP_CLUSTER_URL: url, MCP_SECRET: 'c'.repeat(40), LEDGER: ledger.path, BOARD: board, ...env },
    join(folder, 'log'),
  );
  await replicas.start(REPLICAS);
  const intrusions: Promise<Observation>[] = [];
  const balancer = await startBalancer({
    ports: replicas.ports,
    random,
    onResume: (headers) => intrusions.push(intrude(replicas.ports()[0], headers)),
  });
  const load = startLoad(balancer.url, CLIENTS);
  const striking = strikeAll(plan, { replicas, load, ledger, random, limitMs });
  // On a busy machine, clients have not done everything yet when the last strike is over.
  const seen = (): boolean => SEEN.every((kind) => load.observations.some(({ saw }) => saw === kind));
  const strikes = await striking
    .finally(() => until('clients have done everything once', seen, 60_000).catch(() => undefined))
    .finally(() => load.stop());
  const observations = [...load.observations, ...(await Promise.all(intrusions))];
  await balancer.close();
  await replicas.close();
  const history: History = { effects: ledger.read(), observations, rows: await rows?.() };
  const violations = verify(history);
  const figures = { ...figuresOf(history), ...balancer.figures };
  const repeated = [...runsOf(history).values()].reduce((sum, all) => sum + all.length - 1, 0);
  const { failures } = replicas;
  const isBroken = failures.length > 0 || Object.values(violations).some((each) => each.length > 0);
  if (isBroken) {
    writeFileSync(join(folder, 'history.json'), JSON.stringify(history, null, 1));
    writeFileSync(join(folder, 'problems'), load.problems.join('\n'));
  } else rmSync(folder, { recursive: true, force: true });
  const count = (counted: object): string =>
    Object.entries(counted)
      .map(([name, value]) => `${name} ${typeof value === 'number' ? value : value.length}`)
      .join(', ');
  report(
    `${engine}: ${count({ ...strikes, starts: replicas.starts, ...figures, 'steps repeated': repeated })}; ${count(violations)}; errors ${JSON.stringify(Object.fromEntries(load.failures))}; ${isBroken ? `see ${folder}, ` : ''}seed ${seed}`,
  );
  return { violations, failures, figures };
}

/** Tries to resume the stream of another caller. */
async function intrude(port: number | undefined, headers: IncomingHttpHeaders): Promise<Observation> {
  const caller = String(headers['x-caller']);
  const other = CALLERS.find((each) => each !== caller) as string;
  const what = `${other} has resumed a stream of ${caller}`;
  const own = Object.entries({ ...headers, 'x-caller': other }).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && !/^(host|connection)$/.test(entry[0]),
  );
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
      headers: Object.fromEntries(own),
      signal: AbortSignal.timeout(30_000),
    });
    await reply.body?.cancel();
    return { saw: 'intrusion', what, succeeded: reply.ok };
  } catch {
    return { saw: 'intrusion', what, succeeded: false };
  }
}

function figuresOf(history: History): Record<string, number> {
  const count = (saw: Observation['saw']): number =>
    history.observations.filter((each) => each.saw === saw).length;
  return {
    jobs: count('job'),
    payments: count('payment'),
    calls: count('result'),
    questions: count('question'),
    streams: count('stream'),
    changes: count('announced'),
    reads: count('read'),
    intrusions: count('intrusion'),
    ...(history.rows && { rows: history.rows.length }),
  };
}

/** Prints a line, and appends it to the file that `npm run chaos` reads. */
function report(line: string): void {
  console.log(line);
  const file = process.env['CHAOS_REPORT'];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

/** The size of a run: `CHAOS` times what CI can bear, in strikes and in time. `CHAOS_SECONDS` sets the time alone. */
export function sizeOfRun(): StrikeCounts & Pick<ChaosPlan, 'limitMs'> {
  const factor = Number(process.env['CHAOS'] ?? '1');
  const seconds = Number(process.env['CHAOS_SECONDS'] ?? 100 * factor);
  const times = (count: number): number => Math.max(1, Math.round(count * factor));
  return { kills: times(40), terminations: times(10), pauses: times(10), limitMs: seconds * 1000 };
}
