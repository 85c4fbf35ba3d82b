// A task that this process holds: as it is now, and as it is in the store.

import { unref } from '../../../async/unref.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Logger } from '../../../server/state/log.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import { bytesOfJson, bytesOfTask, endTask, removeTask } from '../stored/endings.js';
import type { Inbox } from '../stored/inbox.js';
import { type AskedRounds, mergeItems, newsItem, type StoredJournal } from '../stored/journal-items.js';
import { isCounted, type TaskKeys, type TaskPlace } from '../stored/keys.js';
import { grown } from '../stored/quota.js';
import { Unsaveable } from '../stored/saving-errors.js';
import { type Ending, laterThan, type TaskHead } from '../stored/task.js';
import { LeaseWriter, type WriteEnd } from './lease-writer.js';

/** The parts of a `SavedTask` that all tasks share. */
export interface SavedTaskParts {
  readonly store: Store;
  readonly keys: TaskKeys;
  /** Called when a change that clients can see is saved. */
  readonly onChange: (id: string) => void;
  readonly log: Logger;
  /** The limit for the bytes of a task. */
  readonly maxTaskBytes: number;
}

/** A task as it was read or made, with the lease on it. */
export interface HeldTask {
  readonly place: TaskPlace;
  readonly lease: Lease;
  readonly head: TaskHead;
  readonly journal: StoredJournal;
  readonly inbox: Inbox;
  /** The time until the task expires. */
  readonly remainingMs: number;
}

/** The run of the task. */
export interface SavedTaskEvents {
  /** Takes what the run has added to its journal. */
  readonly takeNews: () => Parameters<typeof newsItem>[0];
  /** Called once when another process may have taken the task. Nothing more is written. */
  readonly onLost: () => void;
}

/** The questions that a write shows to the client. */
export interface Asking {
  readonly fields: Partial<TaskHead>;
  readonly asked: AskedRounds;
  /** Whether the task is put aside at once. */
  readonly release: boolean;
}

// The shortest interval between two writes of the head for changes that nobody waits for, such as progress, and the multiple of
// the time that such a write takes. A process that wants to cancel the task must find the head unchanged for a moment.
const SOON_EVERY_MS = 100;
const SOON_EVERY_WRITES = 10;

/** A task that this process holds. Only the process that holds the lease writes the head and the journal. */
export class SavedTask {
  readonly place: TaskPlace;
  readonly inbox: Inbox;
  /** The task as it is now. */
  head: TaskHead;
  readonly #parts: SavedTaskParts;
  readonly #events: SavedTaskEvents;
  readonly #writer: LeaseWriter;
  /** The time of expiry, on a monotonic clock. */
  readonly #expires: number;
  /** The number of items in the journal, and their bytes. */
  #size: number;
  #bytes: number;
  #visible: TaskHead;
  /** The part of the journal that is not written yet. */
  #news: JsonObject | undefined;
  /** Whether the head has changes that are not written yet. */
  #isDirty = false;
  #isLost = false;
  #isReleasing = false;
  /** The reason why the results of steps can no longer be saved. */
  #problem: Unsaveable | undefined;
  #soonTimer: ReturnType<typeof setTimeout> | undefined;
  /** The time, on a monotonic clock, from which on progress is written again. */
  #soonAt = 0;

  constructor(parts: SavedTaskParts, held: HeldTask, events: SavedTaskEvents) {
    const { store, log } = parts;
    const { lease, place } = held;
    this.#parts = parts;
    this.#events = events;
    this.place = place;
    this.head = held.head;
    this.#visible = held.head;
    this.inbox = held.inbox;
    this.#size = held.journal.size;
    this.#bytes = held.journal.bytes;
    this.#expires = performance.now() + held.remainingMs;
    const onFailure = (error: unknown): void => log('error', `Task ${place.id} could not be saved`, error);
    this.#writer = new LeaseWriter({ store, lease, onFailure });
  }

  /** The task as clients see it: as it was last saved. */
  get visible(): TaskHead {
    return this.inbox.view(this.#visible);
  }

  /** Whether a write that puts the task aside is under way or was made: another process may have the task already. */
  get isReleasing(): boolean {
    return this.#isReleasing;
  }

  get remainingMs(): number {
    return this.#expires - performance.now();
  }

  /** The number of items in the journal. */
  get size(): number {
    return this.#size;
  }

  /** Changes fields that clients see. They see the change once it is saved. */
  change(fields: Partial<TaskHead>): void {
    this.head = { ...this.head, ...fields, updatedAt: laterThan(this.head) };
    this.#isDirty = true;
  }

  /** Saves the task as it is now. Rejects with `Unsaveable` if the task can never be saved. Resolves too if the lease is lost. */
  save(): Promise<void> {
    return this.#writer.inTurn(async () => {
      if (this.#problem !== undefined) throw this.#problem;
      await this.#write();
    });
  }

  /** Saves changes that nobody waits for, soon and without waiting. */
  saveSoon(): void {
    if (this.#soonTimer !== undefined || this.#isLost) return;
    const save = (): void => {
      this.#soonTimer = undefined;
      this.save().catch(() => undefined);
    };
    const waitMs = this.#soonAt - performance.now();
    if (waitMs <= 0) return save();
    this.#soonTimer = setTimeout(save, waitMs);
    unref(this.#soonTimer);
  }

  /**
   * Saves questions, unless the inbox has news. `prepare` is called when the write's turn has come; if it returns undefined, there
   * is nothing to write.
   */
  ask(prepare: () => Asking | undefined): Promise<WriteEnd> {
    return this.#writer.inTurn(async () => {
      const asking = prepare();
      if (asking === undefined) return 'made';
      const before = this.head;
      this.change({ ...asking.fields, waiting: asking.release });
      const end = await this.#write({
        asked: asking.asked,
        more: [this.#expectInbox(), ...(asking.release ? [this.#release()] : [])],
      });
      if (end !== 'made') this.change({ open: before.open, status: before.status, waiting: false });
      return end;
    });
  }

  /** Puts the task aside until it is answered or expires, unless the inbox has news, or the task no longer waits in its turn. */
  putAside(isWaiting: () => boolean): Promise<WriteEnd> {
    return this.#writer.inTurn(async () => {
      if (!isWaiting()) return 'closed';
      this.change({ waiting: true });
      const end = await this.#write({ more: [this.#expectInbox(), this.#release()] });
      if (end !== 'made') this.change({ waiting: false });
      return end;
    });
  }

  /** Gives the task back. The next process may claim it after `inMs`, as if this process had not tried. */
  handBack(inMs: number): Promise<WriteEnd> {
    return this.#writer.inTurn(() => this.#write({ more: [{ do: 'release', inMs }] }));
  }

  /** Saves the end of the task. Rejects with `Unsaveable` if it can never be saved. */
  end(ending: Ending, maxBytes: number = this.#parts.maxTaskBytes): Promise<WriteEnd> {
    const { keys } = this.#parts;
    return this.#writer.inTurn(async () => {
      const { remainingMs } = this;
      const end = endTask(keys, this.place, this.head, { ending, remainingMs, maxBytes });
      const written = await this.#send(end.changes);
      if (written === 'made') {
        this.head = end.head;
        this.#visible = end.head;
      }
      return written;
    });
  }

  /** Removes the task, which has expired. */
  remove(): Promise<WriteEnd> {
    return this.#writer.inTurn(() => this.#send(removeTask(this.#parts.keys, this.place, this.head)));
  }

  /** Resolves when no write is under way. */
  idle(): Promise<void> {
    return this.#writer.idle();
  }

  /** Stops writing. Resolves when the write that is under way has ended. */
  close(): Promise<void> {
    clearTimeout(this.#soonTimer);
    this.#writer.close();
    return this.#writer.idle();
  }

  #expectInbox(): StoreChange {
    return { do: 'expect', list: this.place.inbox, size: this.inbox.size };
  }

  #release(): StoreChange {
    return { do: 'release', inMs: Math.max(0, Math.ceil(this.remainingMs)) };
  }

  /** Writes what is not written yet, with these changes. The first change has the unique name that makes a retry harmless. */
  async #write({
    asked = [],
    more = [],
  }: {
    asked?: AskedRounds;
    more?: readonly StoreChange[];
  } = {}): Promise<WriteEnd> {
    this.#news = mergeItems(this.#news, newsItem(this.#events.takeNews(), []));
    const item = mergeItems(this.#news, newsItem(undefined, asked));
    const startedAt = performance.now();
    const isSoon = this.#isDirty && (more.length > 0 || startedAt >= this.#soonAt);
    if (item === undefined && !isSoon && more.length === 0) return 'made';
    const bytesBefore = this.head.bytes;
    const itemBytes = item === undefined ? 0 : this.#reserve(item);
    const changes: StoreChange[] = [];
    if (item !== undefined)
      changes.push({ do: 'append', list: this.place.journal, name: String(this.#size), value: item });
    const { head } = this;
    const isHeadWritten = isSoon || head.bytes !== bytesBefore;
    if (isHeadWritten) changes.push({ do: 'put', key: this.place.head, value: { ...head } });
    changes.push(...grown(this.place, head.bytes - bytesBefore), ...more);
    if (isHeadWritten) this.#isDirty = false;
    const releases = more.some((change) => change.do === 'release');
    this.#isReleasing ||= releases;
    const end = await this.#send(changes);
    if (end !== 'made') {
      if (releases) this.#isReleasing = false;
      this.head = { ...this.head, bytes: bytesBefore };
      this.#isDirty ||= isHeadWritten;
      return end;
    }
    if (item !== undefined) this.#size++;
    this.#bytes += itemBytes;
    this.#news = undefined;
    if (this.#isDirty) this.saveSoon();
    if (!isHeadWritten) return end;
    this.#visible = head;
    const endedAt = performance.now();
    this.#soonAt = endedAt + Math.max(SOON_EVERY_MS, SOON_EVERY_WRITES * (endedAt - startedAt));
    this.#parts.onChange(this.place.id);
    return end;
  }

  /** Checks the size of the task with this item, and counts the bytes for the caller, some of them in advance. */
  #reserve(item: JsonObject): number {
    try {
      const itemBytes = bytesOfJson(item);
      const listBytes = this.#bytes + this.inbox.bytes + itemBytes;
      const bytes = bytesOfTask(this.head, listBytes, this.#parts.maxTaskBytes);
      if (isCounted(this.place) && bytes > this.head.bytes)
        this.head = { ...this.head, bytes: Math.max(bytes, 2 * this.head.bytes) };
      return itemBytes;
    } catch (error) {
      // A later write must not record the steps after this one without this one.
      if (error instanceof Unsaveable && item['s'] !== undefined) this.#problem = error;
      throw error;
    }
  }

  async #send(changes: readonly StoreChange[]): Promise<WriteEnd> {
    if (this.#isLost) return 'lost';
    let end: WriteEnd;
    try {
      end = await this.#writer.write(changes);
    } catch (error) {
      if (error instanceof Unsaveable && this.#news?.['s'] !== undefined) this.#problem = error;
      throw error;
    }
    if (end === 'lost') {
      this.#isLost = true;
      this.#events.onLost();
    }
    return end;
  }
}
