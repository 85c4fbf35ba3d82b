import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { every } from '../../src/async/every.js';
import {
  CRASH_LEAD,
  type CrashEngine,
  type CrashPlan,
  crashQueues,
  crashWorld,
  subscribeAll,
} from '../support/events/crash-process.js';
import { secretOf } from '../support/events/receiver.js';
import { freePort } from '../support/free-port.js';
import { ended } from '../support/processes.js';
import { until } from '../support/until.js';

// Kills publishers, workers, the receiver, a follower and the engine of webhooks, and compares what has arrived with what was emitted.

/** The plan of a run. */
export interface EventChaosPlan {
  readonly engine: CrashEngine;
  /** The address of the engine, or the folder of LMDB. */
  readonly address: string;
  /** The folder of LMDB if the engine is only a bus. */
  readonly folder?: string;
  /** The number of events, and how often each role is killed while they are emitted. */
  readonly events: number;
  readonly kills: number;
  /** Kills the engine, and starts it again. LMDB has none. */
  readonly killEngine?: () => Promise<void>;
}

/** The result of a run. */
export interface EventChaosResult {
  /** The events that did not arrive, by the path of their subscription. */
  readonly lost: readonly string[];
  /** The lines that nobody expects: an event under another id, of another subscription, twice in the log; a gap; an end. */
  readonly doubled: readonly string[];
  /** The events that the log has before an earlier one of the same publisher. */
  readonly disordered: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const PUBLISHERS = ['p1', 'p2'];
const NAMES = [...PUBLISHERS, 'w1', 'w2', 'f1', 'r1'];
const BATCH = 20;
/** The mean time between two kills, at least: they are spread over nearly all events. */
const PAUSE_MS = 300;
const SPREAD = 0.9;
const STALL_MS = 120_000;
const PACE_MS = 200;
const roles = { p: 'publisher', w: 'worker', r: 'receiver', f: 'follower' } as const;

/** Runs the processes, kills them, and waits until everything has arrived. */
export async function survive(plan: EventChaosPlan): Promise<EventChaosResult> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  // Beside node_modules, where the clients of the engines are found.
  mkdirSync(join(root, 'build'), { recursive: true });
  const files = mkdtempSync(join(root, 'build/crash-'));
  try {
    return await surviveIn(files, plan);
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
}

async function surviveIn(files: string, plan: EventChaosPlan): Promise<EventChaosResult> {
  const { engine, address, folder, events, kills, killEngine } = plan;
  const script = join(files, 'process.mjs');
  await bundle(script);
  const total = Math.ceil(events / PUBLISHERS.length);
  const strikes = kills * (Object.keys(roles).length + (killEngine === undefined ? 0 : 1));
  const base = {
    ...{ engine, address, folder, total, batch: BATCH, port: await freePort(), secret: secretOf(9) },
    ...{
      ledger: join(files, 'ledger'),
      published: join(files, 'published'),
      followed: join(files, 'followed'),
    },
    // The events last at least as long as the kills.
    restMs: Math.ceil((strikes * PAUSE_MS) / (total / BATCH)),
  };
  const world = await crashWorld(base);
  const log = await world.history();
  const from = log.cursorOf(await log.tail());
  const processes = new Killable(script, (name) => {
    const role = roles[name.slice(0, 1) as keyof typeof roles];
    return { ...base, from, role, publisher: name };
  });
  try {
    const published = new Lines(base.published);
    processes.start('r1');
    const subscribed = (): Promise<boolean> =>
      subscribeAll(world, base).then(
        () => true,
        () => false,
      );
    await until('the subscriptions are made', subscribed, 120_000).finally(() => world.close(0));
    for (const name of NAMES.slice(0, -1)) processes.start(name);
    const began = Date.now();
    const ledger = new Lines(base.ledger);
    const followed = new Lines(base.followed);
    const expected = expectedLines(total);
    const stopPacing = every(PACE_MS, () => {
      const arrivedOfEach = total * (ledger.read().length / expected.size);
      processes.allow(PUBLISHERS, CRASH_LEAD + arrivedOfEach);
    });
    const emitAll = async (): Promise<void> => {
      await strike(processes, { strikes, killEngine, emitted: () => emittedIn(published) / (2 * total) });
      const isPublished = () => processes.done.size === PUBLISHERS.length;
      await until('everything was emitted', isPublished, 60_000 + events * 30);
    };
    await emitAll().finally(stopPacing);
    const emittedAt = Date.now();
    const isComplete = (): boolean =>
      ledger.count(expected) === expected.size && followed.read().length >= total * PUBLISHERS.length;
    const arrived = (): number => ledger.read().length + followed.read().length;
    // A busy machine may need long. Events are lost if nothing more arrives for a while.
    let last = { count: arrived(), at: Date.now() };
    while (!isComplete() && Date.now() - last.at < STALL_MS) {
      await delay(250);
      if (arrived() > last.count) last = { count: arrived(), at: Date.now() };
    }
    const seconds = {
      'seconds until all were emitted': inSeconds(emittedAt - began),
      'and until all had arrived': inSeconds(last.at - began),
    };
    return resultOf(plan, { expected, ledger, followed, total, counts: { ...processes.kills, ...seconds } });
  } finally {
    await processes.close();
  }
}

function inSeconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** Kills each role in turn, the engine included, while events are emitted. `emitted` is the share of the events that were. */
async function strike(
  processes: Killable,
  {
    strikes,
    killEngine,
    emitted,
  }: {
    readonly strikes: number;
    readonly killEngine: (() => Promise<void>) | undefined;
    readonly emitted: () => number;
  },
): Promise<void> {
  const kinds = [...Object.keys(roles), ...(killEngine === undefined ? [] : ['e'])];
  for (let at = 0; at < strikes; at++) {
    await delay(PAUSE_MS * (0.5 + Math.random()));
    const isFurther = async (): Promise<boolean> => {
      if (emitted() >= (SPREAD * at) / strikes) return true;
      await delay(100);
      return false;
    };
    await until('more is emitted', isFurther, 600_000);
    const kind = kinds[at % kinds.length] as string;
    const names = NAMES.filter((name) => name.startsWith(kind));
    if (kind !== 'e') await processes.kill(names[Math.floor(Math.random() * names.length)] as string);
    else {
      await killEngine?.();
      processes.count('e');
    }
  }
}

/** The number of events that publishers know to be kept, by the lines that they have written. */
function emittedIn(published: Lines): number {
  const latest = new Map(published.read().map((line) => line.split(' ') as [string, string]));
  return [...latest.values()].reduce((sum, count) => sum + Number(count), 0);
}

/** The lines that the receiver writes: path, header, id, data, and whether the signature is right. */
function expectedLines(total: number): ReadonlySet<string> {
  return new Set(
    Object.entries(crashQueues).flatMap(([path, queue]) =>
      PUBLISHERS.flatMap((publisher) =>
        Array.from({ length: total }, (_, n) => n)
          .filter((n) => queue === undefined || (n % 2 === 0) === (queue === 'even'))
          .map((n) => `${path}\t${publisher}-${n}\t${publisher}-${n}\t${publisher} ${n}\ttrue`),
      ),
    ),
  );
}

interface Arrived {
  readonly expected: ReadonlySet<string>;
  readonly ledger: Lines;
  readonly followed: Lines;
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
}

function resultOf(
  { engine }: EventChaosPlan,
  { expected, ledger, followed, total, counts }: Arrived,
): EventChaosResult {
  const arrived = ledger.read();
  const seen = new Set(arrived);
  const inLog = followed.read().map((line) => line.split('\t')[0] as string);
  const known = new Set(inLog);
  const all = PUBLISHERS.flatMap((publisher) => Array.from({ length: total }, (_, n) => `${publisher}-${n}`));
  const lost = [...[...expected].filter((line) => !seen.has(line)), ...all.filter((id) => !known.has(id))];
  const ids = new Set(all);
  const doubled = [
    ...arrived.filter((line) => !expected.has(line)),
    ...inLog.filter((id) => !ids.delete(id)),
  ];
  const figures = {
    events: all.length,
    deliveries: expected.size,
    repeated: arrived.length - seen.size,
    followed: inLog.length,
    ...counts,
  };
  return { lost, doubled, disordered: disorderOf(engine, inLog), figures };
}

/** The events that stand before one of an earlier batch. Those of one batch are emitted at the same time, and have no order. */
function disorderOf(engine: string, ids: readonly string[]): readonly string[] {
  const latest = new Map<string, number>();
  return ids.flatMap((id) => {
    const [publisher = '', n] = id.split('-');
    const batch = Math.floor(Number(n) / BATCH);
    const before = latest.get(publisher) ?? 0;
    latest.set(publisher, Math.max(before, batch));
    return batch < before ? [`${engine}: ${id} after batch ${before}`] : [];
  });
}

/** The lines of a file that grows. Each look reads only what is new. */
class Lines {
  readonly #file: string;
  readonly #lines: string[] = [];
  readonly #found = new Set<string>();
  #size = 0;
  #rest = '';
  #counted = 0;

  constructor(file: string) {
    this.#file = file;
  }

  read(): readonly string[] {
    if (!existsSync(this.#file)) return this.#lines;
    const file = openSync(this.#file, 'r');
    const bytes = Buffer.alloc(fstatSync(file).size - this.#size);
    this.#size += readSync(file, bytes, 0, bytes.length, this.#size);
    closeSync(file);
    const lines = (this.#rest + bytes.toString()).split('\n');
    this.#rest = lines.pop() as string;
    for (const line of lines) this.#lines.push(line);
    return this.#lines;
  }

  /** The number of different lines that are expected. */
  count(expected: ReadonlySet<string>): number {
    const lines = this.read();
    for (; this.#counted < lines.length; this.#counted++) {
      const line = lines[this.#counted] as string;
      if (expected.has(line)) this.#found.add(line);
    }
    return this.#found.size;
  }
}

/** Processes that are started again when they were killed. */
class Killable {
  readonly kills: Record<string, number> = {};
  readonly done = new Set<string>();
  readonly #running = new Map<string, ChildProcess>();
  readonly #script: string;
  readonly #planOf: (name: string) => CrashPlan;
  #isClosed = false;

  constructor(script: string, planOf: (name: string) => CrashPlan) {
    this.#script = script;
    this.#planOf = planOf;
  }

  start(name: string): void {
    const child = spawn(process.execPath, [this.#script], {
      env: { ...process.env, CRASH_PLAN: JSON.stringify(this.#planOf(name)) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#running.set(name, child);
    child.on('message', () => this.done.add(name));
    child.on('exit', () => {
      if (!this.#isClosed && !this.done.has(name)) this.start(name);
    });
  }

  async kill(name: string): Promise<void> {
    const child = this.#running.get(name) as ChildProcess;
    if (child.exitCode !== null || this.done.has(name)) return;
    this.count(name.slice(0, 1));
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  /** Lets publishers emit up to a number of events. */
  allow(names: readonly string[], events: number): void {
    for (const name of names) {
      const child = this.#running.get(name);
      if (child?.connected) child.send(events, () => undefined);
    }
  }

  count(kind: string): void {
    const what = `${kind === 'e' ? 'engine' : roles[kind as keyof typeof roles]}s killed`;
    this.kills[what] = (this.kills[what] ?? 0) + 1;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.values()].map((child) => ended(child, () => child.kill('SIGKILL'))));
  }
}

async function bundle(file: string): Promise<void> {
  await build({
    input: fileURLToPath(new URL('../support/events/crash-process.ts', import.meta.url)),
    external: [/^node:/, 'lmdb', 'pg', '@redis/client', 'ioredis', /^@nats-io\//],
    output: { file, format: 'esm', codeSplitting: false },
    logLevel: 'silent',
  });
}
