import type { EventStream } from '../../../transports/http/server/event-streams.js';
import type { EventLog } from './event-log.js';

/** A stream that outlives its connections: its events are stored, and a client that reconnects gets those that it missed. */
export class ResumableStream {
  readonly name: string;
  readonly #log: EventLog;
  readonly #retryMs: number | undefined;
  #connection: EventStream | undefined;
  #isEnded = false;

  /** With `retryMs`, the first event tells the client when to reconnect. Revisions before 2025-11-25 cannot read that event. */
  constructor(
    name: string,
    { log, retryMs }: { readonly log: EventLog; readonly retryMs: number | undefined },
  ) {
    this.name = name;
    this.#log = log;
    this.#retryMs = retryMs;
  }

  /** Starts on the first connection. */
  begin(connection: EventStream): void {
    this.#connection = connection;
    if (this.#retryMs === undefined) return;
    // An event without data, so that even a client that loses the connection right away has an id to resume from.
    connection.send({ id: this.#log.append(this.name, ''), data: '', retry: this.#retryMs });
  }

  /** Continues on a new connection, with the events after `lastEventId`. */
  resume(connection: EventStream, lastEventId: string): void {
    this.#connection?.end();
    this.#connection = connection;
    for (const { id, data } of this.#log.after(lastEventId)?.events ?? []) connection.send({ id, data });
    if (this.#isEnded) connection.end();
  }

  send(message: string): void {
    const id = this.#log.append(this.name, message);
    this.#connection?.send({ id, data: message });
  }

  /** Closes the connection. The client may reconnect for the rest. */
  release(): void {
    this.#connection?.end();
    this.#connection = undefined;
  }

  end(): void {
    this.#isEnded = true;
    this.#connection?.end();
    this.#connection = undefined;
  }
}
