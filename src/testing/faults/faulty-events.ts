// An event stream with faults.

import { unlessAborted } from '../../async/abort.js';
import { delay } from '../../async/delay.js';
import { type Faults, garbled, truncated } from './faults.js';
import { bodyOf, networkError } from './network.js';

/** An event stream on which things go wrong, event by event. */
export function faultyEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  faults: Faults,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const cancel = (reason: unknown): void => void reader.cancel(reason).catch(() => undefined);
  return bodyOf(
    async function* faultyEvents(ended) {
      try {
        yield* disturbed(eventsOf(reader), faults, ended);
      } finally {
        cancel(undefined);
      }
    },
    signal,
    cancel,
  );
}

async function* disturbed(
  events: AsyncIterable<string>,
  faults: Faults,
  ended: AbortSignal,
): AsyncGenerator<string> {
  for await (const event of events) {
    const { fault, delayMs, random } = faults.next('received');
    ended.throwIfAborted();
    if (delayMs > 0) await delay(delayMs, { signal: ended });
    switch (fault) {
      case 'drop':
        continue;
      case 'close':
        throw networkError();
      case 'truncate':
        yield truncated(event, random);
        if (random() < 0.5) throw networkError();
        return;
      case 'garble':
        yield garbled(event, random);
        continue;
      case 'duplicate':
        yield event;
        break;
      case 'stall':
        await unlessAborted(faults.calmed, ended);
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
