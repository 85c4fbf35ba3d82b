import { nextTurn } from '../../async/next-turn.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import type { MiddlewareHost } from '../../state/hosted-middleware.js';
import type { AuditEntry } from './entry.js';

// Writes entries in order: all that come in one turn of the event loop, or during a write, with one write.

/** The place that entries are written to: `auditFile` of `fullmcp/node`, or one of your own. */
export interface AuditSink {
  /** Called before the first entry, and again after `close`. `log` tells the operator. */
  readonly open?: ((log: MiddlewareHost['log']) => void | Promise<void>) | undefined;
  /**
   * Writes entries, in this order. They are written when the promise resolves. If it rejects, `write` is called again later, with the
   * same array; there is never more than one call at a time.
   */
  readonly write: (entries: readonly AuditEntry[]) => void | Promise<void>;
  /** Called when the server closes. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** The parts of an `AuditWriter`. */
export interface AuditWriterParts {
  readonly sink: AuditSink;
  /** The number of entries that are kept in memory while they cannot be written. */
  readonly maxPending: number;
  /** The end of the sentence that tells the operator what happens to calls while entries cannot be written. */
  readonly consequence: string;
}

/** Entries that are written together. */
interface Group {
  readonly entries: AuditEntry[];
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes entries to a sink. */
export class AuditWriter {
  /** Tells the operator. A server has a logger; a client does not. */
  log: MiddlewareHost['log'] = new OperatorLog().log;
  readonly #parts: AuditWriterParts;
  /** The entries of groups that are not written yet, the oldest first. */
  readonly #batches: (readonly AuditEntry[])[] = [];
  #next: Group | undefined;
  #isRunning = false;
  #opening: Promise<void> | undefined;
  #isFailing = false;
  #pending = 0;
  #lost = 0;

  constructor(parts: AuditWriterParts) {
    this.#parts = parts;
  }

  /** Whether the last attempt to write has failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Opens the sink now instead of with the first entry. */
  open(): Promise<void> {
    const { sink } = this.#parts;
    this.#opening ??= Promise.resolve(sink.open?.(this.log)).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Resolves when an entry is written. Rejects if it could not be; the entry is kept and written as soon as possible. */
  add(entry: AuditEntry): Promise<void> {
    const group = this.#group();
    group.entries.push(entry);
    return group.written;
  }

  /** Resolves when everything so far is written. */
  flush(): Promise<void> {
    return this.#group().written;
  }

  /** Writes everything and closes the sink. */
  async close(): Promise<void> {
    if (this.#opening !== undefined || this.#pending > 0 || this.#next !== undefined) {
      await this.flush().catch((error: unknown) =>
        this.log(
          'error',
          `${this.#pending + this.#lost} entries of the audit log could not be written`,
          error,
        ),
      );
    }
    if (this.#opening === undefined) return;
    this.#opening = undefined;
    await this.#parts.sink.close?.();
  }

  #group(): Group {
    if (this.#next !== undefined) return this.#next;
    let resolve!: () => void;
    let reject!: (error: unknown) => void;
    const written = new Promise<void>((...both) => {
      [resolve, reject] = both;
    });
    // Not everybody waits for an entry.
    written.catch(() => undefined);
    this.#next = { entries: [], written, resolve, reject };
    if (!this.#isRunning) nextTurn(() => void this.#writeGroups());
    return this.#next;
  }

  async #writeGroups(): Promise<void> {
    this.#isRunning = true;
    for (let group = this.#take(); group !== undefined; group = this.#take()) {
      try {
        await this.#write(group.entries);
        this.#recovered();
        group.resolve();
      } catch (error) {
        this.#failed(error);
        group.reject(error);
      }
    }
    // In the same turn as the last look for a group: the next one starts another run.
    this.#isRunning = false;
  }

  #take(): Group | undefined {
    const group = this.#next;
    this.#next = undefined;
    return group;
  }

  async #write(entries: readonly AuditEntry[]): Promise<void> {
    try {
      await this.open();
      if (this.#batches.length > 0) await this.#writeBatches();
    } catch (error) {
      if (this.#pending + entries.length > this.#parts.maxPending) this.#lost += entries.length;
      else this.#keep(entries);
      throw error;
    }
    this.#keep(entries);
    await this.#writeBatches();
  }

  #keep(entries: readonly AuditEntry[]): void {
    const lost: AuditEntry[] =
      this.#lost === 0 ? [] : [{ type: 'lost', at: new Date().toISOString(), count: this.#lost }];
    this.#lost = 0;
    const batch = [...lost, ...entries];
    if (batch.length > 0) this.#batches.push(batch);
    this.#pending += batch.length;
  }

  async #writeBatches(): Promise<void> {
    for (let [batch] = this.#batches; batch !== undefined; [batch] = this.#batches) {
      await this.#parts.sink.write(batch);
      this.#batches.shift();
      this.#pending -= batch.length;
    }
  }

  #failed(error: unknown): void {
    if (!this.#isFailing)
      this.log('error', `The audit log cannot be written: ${this.#parts.consequence}`, error);
    this.#isFailing = true;
  }

  #recovered(): void {
    if (this.#isFailing) this.log('info', 'The audit log is written again');
    this.#isFailing = false;
  }
}
