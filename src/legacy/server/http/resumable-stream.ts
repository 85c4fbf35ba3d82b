import { backoff, delay } from '../../../async/delay.js';
import { unref } from '../../../async/unref.js';
import type { FollowedStream } from '../../../state/event-log.js';
import type { EventStream, StreamEnd } from '../../../transports/http/server/event-streams.js';
import type { GuardedLog } from './guarded-log.js';

/** The parts of a `ResumableStream`. */
export interface ResumableStreamOptions {
  readonly log: GuardedLog;
  /** The first event tells the client when to reconnect. Undefined for revisions that cannot read that event. */
  readonly retryMs?: number | undefined;
  /** Called when this process has nothing more to do with the stream. */
  readonly onDone?: () => void;
}

/** The right of this process to write a stream. */
export interface StreamClaim {
  /** Whether the stream still belongs to this process. */
  confirm(): boolean | Promise<boolean>;
  /** Whether a call of this process holds the stream now, as far as the process knows. Default: false. */
  readonly isHeld?: boolean;
}

/** The options of `send`. */
export interface EventOptions {
  /** Whether the stream ends with this event. Default: false. */
  readonly last?: boolean;
  /** Whether storing the event is tried again for a while if the log fails. Default: false. */
  readonly keep?: boolean;
  /** The event that is stored in place of one that is too large for the log. */
  readonly instead?: string;
  /** Called with the end of storing the event. The client does not get the event if it is not stored. */
  readonly onStored?: (isStored: boolean) => void;
}

/** The events of a stream after the client's last one, as they are read from the log. */
export interface Followed {
  readonly after: string;
  /** The stream, if the log was asked already. */
  readonly stream?: FollowedStream;
  /** Ends the reading. */
  readonly controller: AbortController;
}

interface Queued extends EventOptions {
  readonly data: string;
  readonly retry?: number;
  /** Whether the client has the event already, without an id. */
  isSent: boolean;
}

// A client that is connected gets its events late, but a log that is slower than the handler must not fill the memory.
const MAX_QUEUED = 1000;
const MAX_QUEUED_LENGTH = 1024 * 1024;
const KEEP_MS = 60_000;
/** The time for storing an event that must be stored before it is sent, because somebody waits for it; and for a stream's end. */
const [STORE_MS, END_MS] = [5000, 5000];
const delays = { baseMs: 100, maxMs: 5000 };

/**
 * A stream that outlives its connections: its events are stored before they are sent, and a client that reconnects gets those that
 * it missed. If the log fails, the client gets the events without ids.
 */
export class ResumableStream {
  readonly name: string;
  /** Whether the client is owed nothing more: the last event is stored, or was sent to it, or its session has ended. */
  isComplete = false;
  readonly #options: ResumableStreamOptions;
  #connection: EventStream | undefined;
  /** Events, and what is done after them. */
  #queue: (Queued | (() => void))[] = [];
  #queuedLength = 0;
  #isWorking = false;
  /** Whether the log does not take an event that is tried again. Meanwhile, a client that is connected need not wait for the log. */
  #isLogLate = false;
  #claim: StreamClaim | undefined | Promise<StreamClaim | undefined>;
  #working: Promise<void> | undefined;
  /** Set while the connection gets its events from the log: other processes may write them. */
  #reading: AbortController | undefined;
  #lastId: string | undefined;
  /** Whether this process writes the stream. Otherwise it only has a connection that reads it. */
  #isWriter = false;
  #isEnding = false;
  #successor: ResumableStream | undefined;
  /** Whether no other process would end the stream if this one died. Then no event has an id: a client must not wait for more. */
  #isUnwatched = false;

  constructor(name: string, options: ResumableStreamOptions) {
    this.name = name;
    this.#options = options;
  }

  /**
   * Starts on the first connection. No event is stored or sent before the claim is known. If the promise has none, events are not
   * stored until `own` gives one.
   */
  begin(connection: EventStream, claim?: Promise<StreamClaim | undefined>): void {
    this.#connection = connection;
    this.#isWriter = true;
    this.own(claim);
    void claim?.then((given) => {
      this.#isUnwatched = given === undefined && this.#claim === claim;
    });
    const { retryMs } = this.#options;
    // An event without data, so that even a client that loses the connection right away has an id to resume from.
    if (retryMs !== undefined) this.#add({ data: '', retry: retryMs, isSent: false });
  }

  /** Lets each event wait until it is certain that the stream belongs to this process. After its end, nobody would find the event. */
  own(claim: StreamClaim | undefined | Promise<StreamClaim | undefined>): void {
    this.#claim = claim;
    this.#isUnwatched = false;
  }

  /** Whether a call of this process writes the stream, and has not ended. */
  get isHeld(): boolean {
    return (this.#claim as StreamClaim | undefined)?.isHeld === true;
  }

  /** Continues on a new connection. If the log does not know the stream, the client gets only what this process writes. */
  resume(connection: EventStream, followed: Followed | undefined): void {
    this.#reading?.abort();
    this.#connection?.end();
    this.#connection = connection;
    this.#reading = followed?.controller;
    if (followed !== undefined) void this.#read(followed);
    else if (!this.#isWriter) this.disconnect();
  }

  /**
   * Continues another stream object of this process under a new claim: gets its connection. The other one sends and stores nothing
   * any more, whoever still writes to it.
   */
  succeed(old: ResumableStream): void {
    this.#connection = old.#connection;
    this.#lastId = old.#lastId;
    old.#successor = this;
    old.#connection = undefined;
    old.abandon();
    // Other processes may have written meanwhile. A client without an id cannot have been anywhere else.
    if (this.#connection !== undefined && this.#lastId !== undefined) this.follow();
  }

  /** Stores an event and sends it. */
  send(data: string, options: EventOptions = {}): void {
    if (this.#isEnding) return options.onStored?.(false);
    this.#isWriter = true;
    this.#isEnding = options.last === true;
    this.#add({ data, isSent: false, ...options });
    if (this.#isLogLate) this.#deliverQueued();
    if (this.#queue.length > MAX_QUEUED || this.#queuedLength > MAX_QUEUED_LENGTH) this.#overflow();
  }

  /** Stores an event and sends it then. False if it could not be stored, and was not sent. */
  sendStored(data: string): Promise<boolean> {
    return new Promise((onStored) => this.send(data, { keep: true, onStored }));
  }

  /** Gets all further events from the log: from now on, other processes write them. */
  follow(): void {
    this.#add(() => {
      this.#isWriter = false;
      if (this.#reading !== undefined) return;
      // Without an id, nobody knows where to read on. Better an end without a response than a client that waits forever.
      if (this.#connection === undefined || this.#lastId === undefined) return this.abandon();
      const controller = new AbortController();
      this.#reading = controller;
      void this.#read({ after: this.#lastId, controller });
    });
  }

  /** Closes the connection after the events that were sent before. The client may reconnect for the rest, if it can resume. */
  release({ always = false }: { readonly always?: boolean } = {}): void {
    this.#add(() => {
      if (always || !this.#isUnwatched) this.disconnect();
    });
  }

  /** The connection has ended, or has to: the client is gone, does not read, may reconnect, or must with another token. */
  leave(why: StreamEnd): void {
    if (this.#successor !== undefined) this.#successor.leave(why);
    else if (why === 'gone' || why === 'unread') this.disconnect();
    else this.release({ always: why === 'expired' });
  }

  /** Removes the connection at once: the client is gone, or has to reconnect. */
  disconnect(): void {
    this.#reading?.abort();
    this.#reading = undefined;
    this.#connection?.end();
    this.#connection = undefined;
    if (!this.#isWriter) this.#options.onDone?.();
  }

  /** Ends the stream after the events that were sent before: the session has ended. */
  end(): void {
    this.isComplete = true;
    this.#add(() => {
      if (this.#reading === undefined) return this.abandon();
      // Another process may have written the last event by now.
      unref(setTimeout(() => this.abandon(), END_MS));
    });
  }

  /** Disconnects a client that can resume the stream in another process. */
  close(): void {
    if (!this.#isWriter) this.disconnect();
  }

  /** Ends the stream at once in this process: it is complete, or another process has taken over. */
  abandon(): void {
    this.#isEnding = true;
    this.#isWriter = false;
    this.disconnect();
  }

  /** Resolves when all events are stored. */
  async stored(): Promise<void> {
    await this.#working;
  }

  #add(next: Queued | (() => void)): void {
    this.#queue.push(next);
    if (typeof next !== 'function') this.#queuedLength += next.data.length;
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#working = this.#work();
  }

  // One event at a time: no log promises an order for appends that overlap.
  async #work(): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (typeof next === 'function') next();
      else if (this.#claim !== undefined && !(await this.#isOwn())) this.#giveUp();
      else {
        const id = await this.#store(next);
        // An event that was stored after another process ended the stream comes after its end: a client with the id of the event would
        // never find the end.
        if (this.#claim !== undefined && !(await this.#isOwn())) {
          this.#giveUp();
          continue;
        }
        this.#deliver(next, id);
        next.onStored?.(id !== undefined);
        this.isComplete ||= next.last === true && (id !== undefined || next.isSent);
        this.#queuedLength -= next.data.length;
        // A connection that reads from the log ends when it has read the last event.
        if (next.last && (id === undefined || this.#reading === undefined)) this.abandon();
      }
      this.#queue.shift();
    }
    this.#isWorking = false;
  }

  // Another process has the stream. A client that is connected reconnects, and gets what that process writes.
  #giveUp(): void {
    for (const each of this.#queue) if (typeof each !== 'function') each.onStored?.(false);
    this.#queue.length = 0;
    this.#queuedLength = 0;
    this.abandon();
  }

  async #isOwn(): Promise<boolean> {
    if (this.#claim instanceof Promise) this.#claim = await this.#claim;
    return this.#claim === undefined || this.#claim.confirm();
  }

  async #store(event: Queued): Promise<string | undefined> {
    const { log } = this.#options;
    const { data, last = false, keep = false, instead, onStored } = event;
    if (this.#isUnwatched) return undefined;
    const giveUpAt = performance.now() + (onStored ? STORE_MS : keep ? KEEP_MS : 0);
    try {
      for (let attempt = 0; ; attempt++) {
        const id = await log.append(this.name, data, { last });
        if (id !== undefined || performance.now() >= giveUpAt) return id;
        this.#deliver(event, undefined);
        this.#isLogLate = true;
        this.#deliverQueued();
        await delay(backoff(attempt, delays), { unref: true });
        if (!(await this.#isOwn())) return undefined;
      }
    } catch {
      // Too large for the log.
      this.#deliver(event, undefined);
      return instead === undefined ? undefined : this.#store({ last, keep, data: instead, isSent: true });
    } finally {
      this.#isLogLate = false;
    }
  }

  // Work that follows an event waits until the event is stored, and so do the events behind that work.
  #deliverQueued(): void {
    for (const next of this.#queue) {
      if (typeof next === 'function') return;
      this.#deliver(next, undefined);
    }
  }

  #deliver(event: Queued, id: string | undefined): void {
    this.#lastId = id ?? this.#lastId;
    const { data, retry, last = false, onStored } = event;
    if (onStored !== undefined && id === undefined) return;
    // A connection that reads from the log finds a stored event there.
    if (event.isSent || this.#connection === undefined || (this.#reading && id !== undefined)) return;
    event.isSent = true;
    this.#connection.send({ data, ...(id !== undefined && { id }), ...(retry !== undefined && { retry }) });
    if (last) this.disconnect();
  }

  // The log is slower than the handler. A client that is connected gets the events now, without ids.
  #overflow(): void {
    const [storing, ...rest] = this.#queue;
    for (const next of this.#queue) if (typeof next !== 'function') this.#deliver(next, undefined);
    const kept = rest.filter((next) => typeof next === 'function' || next.keep === true);
    this.#queue = storing === undefined ? kept : [storing, ...kept];
    this.#queuedLength = this.#queue.reduce(
      (sum, next) => sum + (typeof next === 'function' ? 0 : next.data.length),
      0,
    );
  }

  async #read({ after: from, stream: first, controller }: Followed): Promise<void> {
    const { log } = this.#options;
    const { signal } = controller;
    let [after, stream] = [from, first];
    this.#lastId = after;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        stream ??= await log.follow(after, signal);
        if (stream === undefined) break;
        for await (const { id, data } of stream.events) {
          if (signal.aborted) return;
          after = id;
          attempt = 0;
          this.#lastId = id;
          this.#connection?.send({ id, data });
        }
        // The stream has ended.
        return signal.aborted ? undefined : this.abandon();
      } catch (error) {
        log.report(error);
      }
      stream = undefined;
      await delay(backoff(attempt, delays), { signal, unref: true }).catch(() => undefined);
    }
    if (signal.aborted) return;
    // The log has forgotten the stream. The client still gets what this process writes.
    this.#reading = undefined;
    if (!this.#isWriter) this.disconnect();
  }
}
