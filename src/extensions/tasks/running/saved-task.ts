// A task that this process holds: as it is now, and as it is in the store.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { StoreChange } from '../../../state/store.js';
import type { TransactionFailed } from '../../../state/transaction.js';
import { bytesOfJson, bytesOfTask, endTask, removeTask } from '../stored/endings.js';
import type { Inbox } from '../stored/inbox.js';
import { mergeItems, newsItem } from '../stored/journal-items.js';
import { isCounted, type TaskPlace } from '../stored/keys.js';
import { grown } from '../stored/quota.js';
import { leaseLost, Unsaveable } from '../stored/saving-errors.js';
import { type Ending, laterThan, type TaskHead } from '../stored/task.js';
import type {
  Additions,
  Asking,
  HeldTask,
  SavedTaskEvents,
  SavedTaskParts,
  StepRecord,
} from './held-task.js';
import type { LazyTransaction } from './lazy-transaction.js';
import { LeaseWriter, type Undone, type WriteEnd } from './lease-writer.js';
import { WritePace } from './write-pace.js';

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
  readonly #pace = new WritePace(() => this.save().catch(() => undefined));

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

  /** Whether an open question has an answer in the inbox, so that the task can continue. */
  get isAnswered(): boolean {
    return this.inbox.view(this.head) !== this.head;
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

  /**
   * Commits the transaction of a step together with the step's result. Returns the failure if the transaction was rolled back instead.
   * Rejects as `save` does, and with the transaction's own error.
   */
  saveStep(step: StepRecord, transaction: LazyTransaction): Promise<TransactionFailed | undefined> {
    return this.#writer.inTurn(async () => {
      if (this.#problem !== undefined) throw this.#problem;
      const end = await this.#write({ step, transaction });
      return typeof end === 'object' && 'failure' in end ? end.failure : undefined;
    });
  }

  /** Saves changes that nobody waits for, soon and without waiting. */
  saveSoon(): void {
    if (!this.#isLost) this.#pace.soon();
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
    this.#pace.close();
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
  async #write(additions?: Omit<Additions, 'transaction'>): Promise<WriteEnd>;
  async #write(additions: Additions): Promise<WriteEnd | Undone>;
  async #write({ asked = [], more = [], step, transaction }: Additions = {}): Promise<WriteEnd | Undone> {
    this.#news = mergeItems(this.#news, newsItem(this.#events.takeNews(), []));
    const item = mergeItems(this.#news, newsItem(step && newsOf(step), asked));
    const startedAt = performance.now();
    const isSoon = this.#isDirty && (more.length > 0 || this.#pace.isDue);
    if (item === undefined && !isSoon && more.length === 0) return 'made';
    const bytesBefore = this.head.bytes;
    const itemBytes = item === undefined ? 0 : this.#reserve(item, transaction);
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
    const undo = (): void => {
      if (releases) this.#isReleasing = false;
      this.head = { ...this.head, bytes: bytesBefore };
      this.#isDirty ||= isHeadWritten;
    };
    const end = await this.#send(changes, transaction).catch((error: unknown) => {
      undo();
      throw this.#unsaved(error, transaction);
    });
    if (end !== 'made') {
      undo();
      if (typeof end === 'object' && 'failure' in end && end.isVoided) this.#size++;
      return end;
    }
    if (item !== undefined) this.#size++;
    this.#bytes += itemBytes;
    this.#news = undefined;
    if (this.#isDirty) this.saveSoon();
    if (!isHeadWritten) return end;
    this.#visible = head;
    this.#pace.noteWrite(startedAt);
    this.#parts.onChange(this.place.id);
    return end;
  }

  /** Checks the size of the task with this item, and counts the bytes for the caller, some of them in advance. */
  #reserve(item: JsonObject, transaction: LazyTransaction | undefined): number {
    try {
      const itemBytes = bytesOfJson(item);
      const listBytes = this.#bytes + this.inbox.bytes + itemBytes;
      const bytes = bytesOfTask(this.head, listBytes, this.#parts.maxTaskBytes);
      if (isCounted(this.place) && bytes > this.head.bytes)
        this.head = { ...this.head, bytes: Math.max(bytes, 2 * this.head.bytes) };
      return itemBytes;
    } catch (error) {
      throw this.#unsaved(error, transaction);
    }
  }

  /** Notes that steps cannot be saved. A later write must not record the steps after them without them. */
  #unsaved(error: unknown, transaction: LazyTransaction | undefined): unknown {
    // A step with a transaction is rolled back.
    if (error instanceof Unsaveable && transaction === undefined && this.#news?.['s'] !== undefined)
      this.#problem = error;
    return error;
  }

  async #send(changes: readonly StoreChange[]): Promise<WriteEnd>;
  async #send(changes: readonly StoreChange[], transaction?: LazyTransaction): Promise<WriteEnd | Undone>;
  async #send(changes: readonly StoreChange[], transaction?: LazyTransaction): Promise<WriteEnd | Undone> {
    if (this.#isLost) {
      await transaction?.rollBack(leaseLost());
      return 'lost';
    }
    const end = await (transaction === undefined
      ? this.#writer.write(changes)
      : this.#writer.commit(changes, transaction));
    if (end === 'lost') {
      this.#isLost = true;
      this.#events.onLost();
    }
    return end;
  }
}

function newsOf(step: StepRecord): Parameters<typeof newsItem>[0] {
  return { steps: [step], keys: [], changes: [], parallel: false };
}
