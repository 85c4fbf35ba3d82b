import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStreamReader } from '../../src/jsonrpc/event-stream.js';
import { createParser } from './support/peers.js';

// fullmcp has its own event stream reader, because servers print with the same file and a client must count bytes. The parser
// that most clients use must read the same events from any stream.

interface Read {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

function ours(stream: string, cuts: readonly number[]): Read[] {
  const reader = new EventStreamReader({ maxBytes: 1_000_000 });
  const bytes = new TextEncoder().encode(stream);
  const read: Read[] = [];
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    for (const { event, data, id } of reader.push(bytes.subarray(from, to))) read.push({ event, data, id });
    from = to;
  }
  return read;
}

/** The parser reports only an event's own id; in the standard, an id also applies to later events. */
function theirs(stream: string): Read[] {
  const read: Read[] = [];
  let last: string | undefined;
  const parser = createParser({
    onEvent({ event = 'message', data, id }) {
      if (id !== undefined) last = id === '' ? undefined : id;
      read.push({ event: event === '' ? 'message' : event, data, id: last });
    },
  });
  parser.feed(stream);
  return read;
}

const word = fc.stringMatching(/^[ a-zé漢🙂:{}"]{0,8}$/u);
const line = fc.oneof(
  word.map((text) => `data: ${text}`),
  word.map((text) => `data:${text}`),
  fc.constantFrom('event: ping', 'event:', 'data', ': a comment', 'retry: 500', 'unknown: field', ''),
);
/** An id always comes with data: the two readers differ on purpose for an id without data. */
const event = fc
  .tuple(fc.array(line, { maxLength: 5 }), fc.option(fc.constantFrom('1', 'abc', '漢')), word)
  .map(([lines, id, data]) => [...lines, ...(id === null ? [] : [`id: ${id}`]), `data: ${data}`, '']);
const ending = fc.constantFrom('\n', '\r\n', '\r');

describe('the reader of event streams', () => {
  test('yields the same events as eventsource-parser, however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        ending,
        fc.array(fc.nat(), { maxLength: 8 }),
        (events, end, cuts) => {
          const stream = events
            .flat()
            .map((text) => text + end)
            .join('');
          // A carriage return at the very end may be half of a line break, so an event that waits for the rest is not compared.
          const closed = end === '\r' ? `${stream}: end${end}` : stream;
          expect(ours(closed, cuts)).toEqual(theirs(closed));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
