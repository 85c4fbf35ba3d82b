// Takes up a task that this process has claimed.

import { settlesWithin } from '../../async/deadline.js';
import { type BackoffOptions, backoff } from '../../async/delay.js';
import { Retries } from '../../async/retries.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { TaskPluginParts } from '../../server/handle/task-host.js';
import type { Lease, StoreChange } from '../../state/store.js';
import type { LiveTasks } from './live-tasks.js';
import type { Roll } from './roll.js';
import type { HeldTask } from './running/held-task.js';
import { LiveTask, type LiveTaskParts } from './running/live-task.js';
import { bytesOfTask, removeTask } from './stored/endings.js';
import { Inbox } from './stored/inbox.js';
import { migrationItem, readJournalItems, type StoredJournal } from './stored/journal-items.js';
import { placeOfWork, type TaskPlace } from './stored/keys.js';
import { Unsaveable } from './stored/saving-errors.js';
import { readHead, type TaskHead } from './stored/task.js';

/** The parts of the host that take up tasks. */
export interface TakeUpParts extends Pick<TaskPluginParts, 'workOf' | 'knows' | 'migrate'> {
  readonly live: LiveTasks;
  readonly liveParts: LiveTaskParts;
  readonly roll: Roll;
  /** This process. */
  readonly owner: () => string;
}

/** The number of processes that are remembered because they refused a task. */
const MAX_REFUSED = 1000;
/** A task is not run again after this many processes ended while it ran without progress. */
const MAX_ATTEMPTS = 5;
/** After this many failed attempts, a task may be the one that crashes processes: it is tried later, and one at a time. */
const SUSPECT_ATTEMPTS = 2;
const SUSPECT_BACKOFF: BackoffOptions = { baseMs: 1000, maxMs: 60_000, jitter: [0.75, 1] };
/** The time until a task that this process cannot continue may be claimed by another one. */
const REFUSED_MS = 500;
/** The same if this process has refused the task before: others have had their chance to claim it. */
const REFUSED_AGAIN_MS = 2000;
/** A tool may be added by the program after its start. Until then, its tasks do not fail. */
const SETTLED_MS = 10_000;
const WAITS_FOR_CODE = 'Waiting for a process that has the code which began the task';
const READ_BACKOFF: BackoffOptions = { baseMs: 100, maxMs: 5000, jitter: [0.75, 1] };
/** The time until a suspect is claimed again if another one is being tried. */
const SUSPECT_TURN_MS = 1000;
const UNREADABLE_MS = 600_000;

/** The time for a task to make progress before it no longer counts as starting. */
const PROGRESS_MS = 1000;
const SUSPECT_PROGRESS_MS = 5000;

/** Takes up the tasks that this process has claimed. */
export class TakeUp {
  readonly #parts: TakeUpParts;
  #isTryingSuspect = false;
  #reading = 0;

  constructor(parts: TakeUpParts) {
    this.#parts = parts;
  }

  /**
   * Takes up a task. Resolves when the task has made progress, has had a moment for it, or does not run here. Until then, it
   * counts as starting.
   */
  async take(lease: Lease, requestedAt: number): Promise<void> {
    const { live, liveParts } = this.#parts;
    const place = placeOfWork(lease.key);
    const earlier = live.get(place.id);
    if (earlier !== undefined) {
      // The lease of the earlier run has ended. A task never runs twice in one process, so the earlier run ends first.
      earlier.lose();
      await this.#settle(lease, [{ do: 'release', inMs: SUSPECT_TURN_MS }]);
      return;
    }
    liveParts.leases.keep(lease, () => live.lose(lease), requestedAt);
    this.#reading++;
    const held = await this.#read(lease, place).finally(() => {
      this.#reading--;
    });
    if (held !== undefined) await this.#run(held);
  }

  /** The number of claimed tasks that are still being read. */
  get reading(): number {
    return this.#reading;
  }

  /** Reads the task. Returns undefined if there is nothing to run. */
  async #read(lease: Lease, place: TaskPlace): Promise<HeldTask | undefined> {
    const { leases, log } = this.#parts.liveParts;
    const retries = new Retries({ ...READ_BACKOFF, unref: true });
    while ((await retries.next()) && leases.has(lease)) {
      try {
        return await this.#readOnce(lease, place);
      } catch (error) {
        if (error instanceof TypeError) {
          log(
            'error',
            `The store's entry ${shorten(place.head, 80)} cannot be read, so its task is not resumed`,
            error,
          );
          await this.#settle(lease, [{ do: 'release', inMs: UNREADABLE_MS }]);
          return undefined;
        }
        if (retries.failures === 0)
          log('error', `Task ${place.id} could not be read. The server retries.`, error);
      }
    }
    return undefined;
  }

  async #readOnce(lease: Lease, place: TaskPlace): Promise<HeldTask | undefined> {
    const { store, keys, onChange } = this.#parts.liveParts;
    for (;;) {
      const [entry, items, answers] = await Promise.all([
        store.get(place.head),
        store.items(place.journal),
        store.items(place.inbox),
      ]);
      if (entry === undefined) {
        await this.#settle(lease, removeTask(keys, place, undefined));
        return undefined;
      }
      const { head, remainingMs } = readHead(entry, place.id);
      if (isTerminal(head.status)) {
        await this.#settle(lease, [
          { do: 'drop', list: place.journal },
          { do: 'drop', list: place.inbox },
          { do: 'dequeue', queue: keys.queue, key: place.work },
        ]);
        return undefined;
      }
      if (remainingMs <= 0) {
        await this.#settle(lease, removeTask(keys, place, head));
        onChange(place.id);
        return undefined;
      }
      const inbox = new Inbox(answers);
      const journal = readJournalItems(items, inbox);
      const held = { place, lease, head, journal, inbox, remainingMs };
      if (!onlyWaits(head, inbox)) {
        if (await this.#migrate(held)) continue;
        return held;
      }
      const waits: StoreChange[] = [
        { do: 'expect', list: place.inbox, size: inbox.size },
        { do: 'release', inMs: Math.ceil(remainingMs) },
      ];
      // An answer may have arrived meanwhile.
      if (await this.#settle(lease, waits)) return undefined;
    }
  }

  /** Writes the migration of a task whose version is gone. Returns whether the task has to be read again. */
  async #migrate({ place, lease, head, journal }: HeldTask): Promise<boolean> {
    const { store } = this.#parts.liveParts;
    const migrated = await this.#migrationOf(journal);
    if (migrated === undefined) return false;
    const { version } = migrated;
    const { ok } = await store.write(
      [
        {
          ...{ do: 'append', list: place.journal, name: String(journal.size) },
          value: migrationItem(migrated),
        },
        { do: 'put', key: place.head, value: { ...head, version, refused: undefined } },
      ],
      { guard: lease },
    );
    return ok;
  }

  async #migrationOf({ call, journal }: StoredJournal): ReturnType<TaskPluginParts['migrate']> {
    try {
      return await this.#parts.migrate(call, journal);
    } catch (error) {
      // The run of the task fails with the reason, because nobody has its version.
      this.#parts.liveParts.log('error', `A task of the tool "${call.tool}" could not be migrated`, error);
      return undefined;
    }
  }

  async #run(held: HeldTask): Promise<void> {
    const { live, liveParts, workOf } = this.#parts;
    const { lease, journal } = held;
    const hasDied = lease.attempt > 1;
    const count = failedAttempts(held.head, journal.size) + (hasDied ? 1 : 0);
    const failed = count > 0 ? { count, at: journal.size } : undefined;
    const { statusMessage } = held.head;
    const task = new LiveTask(liveParts, {
      ...held,
      head: {
        ...held.head,
        ...{ waiting: false, failed },
        statusMessage: statusMessage === WAITS_FOR_CODE ? undefined : statusMessage,
      },
    });
    live.add(task);
    if (count >= MAX_ATTEMPTS) return task.fail(tooOften(count));
    const problem = sizeProblem(held, liveParts.maxTaskBytes);
    if (problem !== undefined) return task.fail(problem);
    const isSuspect = count >= SUSPECT_ATTEMPTS;
    if (isSuspect && (hasDied || this.#isTryingSuspect)) {
      const backoffMs = hasDied ? backoff(count - SUSPECT_ATTEMPTS, SUSPECT_BACKOFF) : SUSPECT_TURN_MS;
      return task.handBack(backoffMs, { failed });
    }
    const { refused = [] } = held.head;
    if (refused.includes(this.#parts.owner()) && (await this.#hasOther(refused)))
      return task.handBack(REFUSED_AGAIN_MS, {});
    if (hasDied) {
      task.saved.change({ failed });
      await task.saved.save().catch(() => undefined);
    }
    this.#isTryingSuspect ||= isSuspect;
    const started = task.start(
      () => workOf(journal.call),
      (error) => void this.#onMisfit(task, error),
    );
    await settlesWithin(started, isSuspect ? SUSPECT_PROGRESS_MS : PROGRESS_MS, { unref: true });
    if (isSuspect) this.#isTryingSuspect = false;
  }

  // While a new version is being deployed, some processes do not have a tool yet, or have its next version already, whose handler
  // may not reach what the task has done. The task fails when all processes that are alive have refused it.
  async #onMisfit(task: LiveTask, error: McpError): Promise<void> {
    const { knows, owner, roll, liveParts } = this.#parts;
    const refused = [...new Set([...(task.saved.head.refused ?? []), owner()])].slice(-MAX_REFUSED);
    const mayCome = !knows(task.held.journal.call.tool) && roll.ageMs < SETTLED_MS;
    if (!mayCome && !(await this.#hasOther(refused))) return task.fail(error);
    if (!task.saved.head.refused?.includes(owner()))
      liveParts.log(
        'warning',
        `Task ${task.id} cannot run in this process, and is left for another one`,
        error,
      );
    await task.handBack(REFUSED_MS, { refused, statusMessage: WAITS_FOR_CODE });
  }

  /** Whether another process may be able to continue a task that these refused. While the store cannot tell, one may. */
  #hasOther(refused: readonly string[]): Promise<boolean> {
    return this.#parts.roll.hasOther(refused).catch(() => true);
  }

  /** Makes the last write under a lease. Returns false if a condition was not met, and the lease is still held. */
  async #settle(lease: Lease, changes: readonly StoreChange[]): Promise<boolean> {
    const { store, leases } = this.#parts.liveParts;
    const written = await store.write(changes, { guard: lease });
    if (!written.ok && written.refusedBy !== 'guard') return false;
    leases.drop(lease);
    return true;
  }
}

/** Whether a task that was put aside has no answer to any of its questions. */
function onlyWaits({ waiting, open }: TaskHead, inbox: Inbox): boolean {
  return waiting === true && open.every(([key, round]) => inbox.find(key, round) === undefined);
}

function failedAttempts({ failed }: TaskHead, size: number): number {
  return failed?.at === size ? failed.count : 0;
}

function sizeProblem({ head, journal, inbox }: HeldTask, maxBytes: number): McpError | undefined {
  try {
    bytesOfTask(head, journal.bytes + inbox.bytes, maxBytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof Unsaveable)) throw error;
    return new McpError(
      'internal_error',
      `The task cannot be resumed, because it cannot be saved. ${error.message}`,
    );
  }
}

function tooOften(attempts: number): McpError {
  return new McpError(
    'internal_error',
    `The task was started ${attempts} times, and each time its process ended or stopped responding before the task made progress.`,
  );
}
