// The unfinished tasks in a store by the version that began them, for the operator who deploys. Read from the store alone.

import { isObject } from '../../jsonrpc/message.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { Store, StoreEntry } from '../../state/store.js';
import { readHead, type TaskHead } from './stored/task.js';

/** The unfinished tasks of one version of a tool. */
export interface UnfinishedTasks {
  readonly server: string;
  readonly tool: string;
  /** The version of the tool; absent if it has no versions. */
  readonly version?: string;
  /** The version of the server that began the oldest of them. */
  readonly release: string;
  /** The number of tasks that run, or will. */
  readonly working: number;
  /** The number of tasks that wait for an answer. */
  readonly waiting: number;
  /** The time at which the oldest began, in ISO 8601. */
  readonly oldest: string;
  /** The number of living processes that serve this version. */
  readonly processes: number;
}

/** The living processes of one release that run tasks. */
export interface RunningRelease {
  readonly server: string;
  readonly release: string;
  readonly processes: number;
}

/** The tools with tasks that a process serves, each with its versions; an empty array if it has none. */
type ServedTasks = Readonly<Record<string, readonly string[]>>;

/** The facts that a process writes about itself while it is alive. */
export interface Process {
  readonly server: string;
  readonly release: string;
  readonly tasks: ServedTasks;
}

const PAGE = 100;
const MAX_GROUPS = 10_000;

/** Reads which processes run tasks, and which tasks are unfinished. */
export async function readUnfinished(
  store: Store,
): Promise<{ readonly releases: readonly RunningRelease[]; readonly tasks: readonly UnfinishedTasks[] }> {
  const processes: Process[] = [];
  for await (const { value } of entriesOf(store, 'task-worker:')) if (isProcess(value)) processes.push(value);
  const groups = new Map<string, UnfinishedTasks>();
  for await (const entry of entriesOf(store, 'task:')) {
    const head = headOf(entry);
    if (head !== undefined && !isTerminal(head.status)) add(groups, head, processes);
  }
  return { releases: releasesOf(processes), tasks: [...groups.values()] };
}

async function* entriesOf(store: Store, prefix: string): AsyncGenerator<StoreEntry, void, undefined> {
  for (let after = ''; ; ) {
    const page = await store.page(prefix, { limit: PAGE, ...(after !== '' && { after }) });
    yield* page;
    after = page.at(-1)?.key ?? '';
    if (page.length < PAGE) return;
  }
}

function isProcess(value: object): value is Process {
  const { server, release, tasks } = value as Partial<Process>;
  return typeof server === 'string' && typeof release === 'string' && isObject(tasks);
}

function headOf(entry: StoreEntry): TaskHead | undefined {
  try {
    return readHead(entry, entry.key.slice(entry.key.lastIndexOf(':') + 1)).head;
  } catch {
    // Not a task, or one that nobody can read.
    return undefined;
  }
}

function add(groups: Map<string, UnfinishedTasks>, head: TaskHead, processes: readonly Process[]): void {
  const { server = '', tool = '', version, release = '', createdAt, status } = head;
  const key = JSON.stringify([server, tool, version]);
  const known = groups.get(key);
  if (known === undefined && groups.size >= MAX_GROUPS) return;
  const began = new Date(createdAt).toISOString();
  const isOldest = known === undefined || began < known.oldest;
  const isWaiting = status === 'input_required';
  groups.set(key, {
    ...{ server, tool, ...(version !== undefined && { version }) },
    release: isOldest ? release : known.release,
    working: (known?.working ?? 0) + (isWaiting ? 0 : 1),
    waiting: (known?.waiting ?? 0) + (isWaiting ? 1 : 0),
    oldest: isOldest ? began : known.oldest,
    processes: known?.processes ?? processes.filter((one) => serves(one, head)).length,
  });
}

function serves({ server, tasks }: Process, head: TaskHead): boolean {
  const { tool = '', version } = head;
  const versions = Object.hasOwn(tasks, tool) ? tasks[tool] : undefined;
  return (
    server === head.server && versions !== undefined && (version === undefined || versions.includes(version))
  );
}

function releasesOf(processes: readonly Process[]): readonly RunningRelease[] {
  const counts = new Map<string, RunningRelease>();
  for (const { server, release } of processes) {
    const key = JSON.stringify([server, release]);
    counts.set(key, { server, release, processes: (counts.get(key)?.processes ?? 0) + 1 });
  }
  return [...counts.values()];
}
