// The events of an inspector for its pages, as server-sent events. Memory is bounded: a page that does not read is cut off.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { every } from '../../async/every.js';
import type { Inspector, InspectorEvent } from '../contract/inspector.js';
import { beginStream, sendFailure } from './reply.js';

const MAX_STREAMS = 32;
/** The text that may wait for one page. A page that is cut off takes a new snapshot. */
const MAX_WAITING = 8 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1000;

export class EventStreams {
  readonly #inspector: Inspector;
  readonly #streams = new Set<ServerResponse>();
  #stop: (() => void) | undefined;

  constructor(inspector: Inspector) {
    this.#inspector = inspector;
  }

  /** How many pages listen. */
  get size(): number {
    return this.#streams.size;
  }

  /** Sends all events after the one that the page has, and then those to come. */
  open(req: IncomingMessage, res: ServerResponse, after: number): void {
    if (this.#streams.size >= MAX_STREAMS)
      return sendFailure(req, res, 503, {
        code: 'overloaded',
        message: `The inspector is open in ${MAX_STREAMS} pages. Close some of them.`,
      });
    const missed = this.#inspector.eventsAfter(after);
    beginStream(res, 'text/event-stream; charset=utf-8');
    res.write(`retry: ${RETRY_MS}\n\n`);
    if (missed === undefined) {
      res.end('event: reset\ndata: {}\n\n');
      return;
    }
    res.write(missed.map(eventText).join(''));
    this.#add(res);
  }

  /** Ends all streams. */
  close(): void {
    for (const res of this.#streams) res.end();
    this.#streams.clear();
    this.#quiet();
  }

  #add(res: ServerResponse): void {
    this.#streams.add(res);
    this.#stop ??= this.#listen();
    res.once('close', () => {
      this.#streams.delete(res);
      if (this.#streams.size === 0) this.#quiet();
    });
  }

  #listen(): () => void {
    const unsubscribe = this.#inspector.subscribe((event) => this.#send(eventText(event)));
    const stopBeating = every(HEARTBEAT_MS, () => this.#send(':\n\n'));
    return () => {
      stopBeating();
      unsubscribe();
    };
  }

  #quiet(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #send(text: string): void {
    for (const res of this.#streams) {
      if (res.writableLength + text.length > MAX_WAITING) res.destroy();
      else res.write(text);
    }
  }
}

function eventText(event: InspectorEvent): string {
  return `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}
