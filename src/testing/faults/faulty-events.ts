// An event stream with faults.

import { unlessAborted } from '../../async/abort.js';
import { delay } from '../../async/delay.js';
import { type Faults, garble, truncate } from './faults.js';
import { bodyOf, networkError } from './network.js';

/** An event stream whose events meet the faults of a plan, one by one. */
export function faultyEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  faults: Faults,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const cancel = (reason: unknown): void => void reader.cancel(reason).catch(() => undefined);
  return bodyOf(
    async function* faultyEvents(signal) {
      try {
        yield* disturb(eventsOf(reader), faults, signal);
      } finally {
        cancel(undefined);
      }
    },
    signal,
    cancel,
  );
}

async function* disturb(
  events: AsyncIterable<string>,
  faults: Faults,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const event of events) {
    const { fault, delayMs, random } = faults.next('received');
    signal.throwIfAborted();
    if (delayMs > 0) await delay(delayMs, { signal });
    switch (fault) {
      case 'drop':
        continue;
      case 'close':
        throw networkError();
      case 'truncate':
        yield truncate(event, random);
        if (random() < 0.5) throw networkError();
        return;
      case 'garble':
        yield garble(event, random);
        continue;
      case 'duplicate':
        yield event;
        break;
      case 'stall':
        await unlessAborted(faults.stopped, signal);
        break;
      default:
        fault satisfies undefined;
    }
    yield event;
  }
}

const BLANK_LINE = /\r\n\r\n|\n\n|\r\r/g;

/** The events as they are written, each with the blank line that ends it. */
async function* eventsOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = '';
  for (;;) {
    const { done, value } = await reader.read();
    pending += done ? decoder.decode() : decoder.decode(value, { stream: true });
    let start = 0;
    for (const blank of pending.matchAll(BLANK_LINE)) {
      const end = blank.index + blank[0].length;
      yield pending.slice(start, end);
      start = end;
    }
    pending = pending.slice(start);
    if (done) {
      if (pending !== '') yield pending;
      return;
    }
  }
}
