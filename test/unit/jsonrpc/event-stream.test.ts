import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EventStreamReader,
  EventTooLarge,
  printComment,
  printEvent,
  type StreamEvent,
} from '../../../src/jsonrpc/event-stream.js';

const encoder = new TextEncoder();

function read(input: string, cuts: readonly number[] = []): StreamEvent[] {
  const bytes = encoder.encode(input);
  const reader = new EventStreamReader({ maxBytes: 1_000_000 });
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const events: StreamEvent[] = [];
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    events.push(...reader.push(bytes.subarray(from, end)));
    from = end;
  }
  return events;
}

const data = (events: readonly StreamEvent[]): string[] => events.map((event) => event.data);

describe('printEvent', () => {
  it('prints the fields, the data last', () => {
    expect(printEvent({ data: '{}' })).toBe('data: {}\n\n');
    expect(printEvent({ data: '{}', id: '7', event: 'message', retry: 500 })).toBe(
      'event: message\nid: 7\nretry: 500\ndata: {}\n\n',
    );
  });

  it('prints an event that only has an id', () => {
    expect(printEvent({ id: 'x', data: '' })).toBe('id: x\ndata: \n\n');
  });

  it('splits data at every kind of line break', () => {
    expect(printEvent({ data: 'a\nb\rc\r\nd\n' })).toBe('data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n');
  });

  it.each(['a\nb', 'a\rb', 'a\0b'])('rejects %j as id or event', (value) => {
    expect(() => printEvent({ data: '', id: value })).toThrow(RangeError);
    expect(() => printEvent({ data: '', event: value })).toThrow(RangeError);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects %d as retry', (retry) => {
    expect(() => printEvent({ data: '', retry })).toThrow(RangeError);
  });

  it('is reversed by the reader, with line breaks normalized', () => {
    const line = fc.string({ unit: 'grapheme' });
    const name = fc.string({ minLength: 1 }).filter((text) => !/[\r\n\0]/.test(text));
    fc.assert(
      fc.property(line, name, name, fc.nat(), (data, id, event, retry) => {
        const [result] = read(printEvent({ data, id, event, retry }));
        expect(result).toEqual({ data: data.replaceAll(/\r\n|\r/g, '\n'), id, event, retry });
      }),
    );
  });
});

describe('printComment', () => {
  it('prints comments that a reader skips, whatever they contain', () => {
    expect(printComment('ping')).toBe(': ping\n\n');
    expect(printComment('a\ndata: b')).toBe(': a\n: data: b\n\n');
    expect(data(read(`${printComment('x\r\ndata: y')}data: real\n\n`))).toEqual(['real']);
  });
});

describe('EventStreamReader', () => {
  it('yields the same events however the bytes are cut and whichever line break is used', () => {
    const value = fc.string({ unit: fc.constantFrom('a', ' ', ':', 'é', '😀', '\uFEFF') });
    const field = fc.oneof(
      fc.tuple(fc.constantFrom('data', 'data: ', 'data:', 'id:', 'event: ', ': note', 'other: '), value),
      fc.constantFrom(['retry: ', '12'], ['retry:', 'x'], ['', '']),
    );
    const breaks = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(
        fc.array(field),
        fc.array(fc.nat()),
        breaks,
        fc.boolean(),
        (fields, cuts, lineBreak, mark) => {
          const text = fields.map(([name, value]) => `${name}${value}`);
          const plain = read(`${text.join('\n')}\n\n`);
          const cut = read(`${mark ? '\uFEFF' : ''}${text.join(lineBreak)}${lineBreak}${lineBreak}`, cuts);
          expect(cut).toEqual(plain);
        },
      ),
    );
  });

  it('yields the same events byte by byte', () => {
    const input = '\uFEFFid: 1\r\ndata: é😀\r\n\r\n: c\rdata: b\r\rdata: c\n\n';
    const everywhere = [...encoder.encode(input).keys()];
    const expected = [
      { event: 'message', data: 'é😀', id: '1' },
      { event: 'message', data: 'b', id: '1' },
      { event: 'message', data: 'c', id: '1' },
    ];
    expect(read(input)).toEqual(expected);
    expect(read(input, everywhere)).toEqual(expected);
  });

  // The examples of WHATWG HTML, "Interpreting an event stream".
  it('joins the data lines of an event', () => {
    expect(data(read('data: YHOO\ndata: +2\ndata: 10\n\n'))).toEqual(['YHOO\n+2\n10']);
  });

  it('skips comments, and reads ids and an id that is reset', () => {
    const input =
      ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n';
    expect(read(input)).toEqual([
      { event: 'message', data: 'first event', id: '1' },
      { event: 'message', data: 'second event', id: undefined },
      { event: 'message', data: ' third event', id: undefined },
    ]);
  });

  it('reads data without a colon, and drops an event that is cut off by the end', () => {
    expect(data(read('data\n\ndata\ndata\n\ndata:'))).toEqual(['', '\n']);
  });

  it('drops one leading space and no more', () => {
    expect(data(read('data:test\n\ndata: test\n\ndata:  test\n\n'))).toEqual(['test', 'test', ' test']);
  });

  it('reports an event that only has an id to resume from', () => {
    expect(read('id: x\nretry: 3000\ndata: \n\n')).toEqual([
      { event: 'message', data: '', id: 'x', retry: 3000 },
    ]);
  });

  it('reports no event without a data line, but keeps its id and its retry, and drops its name', () => {
    const reader = new EventStreamReader({ maxBytes: 100 });
    expect([...reader.push(encoder.encode('event: lost\nid: 5\nretry: 40\n\n'))]).toEqual([]);
    expect(reader.lastEventId).toBe('5');
    expect(reader.retryMs).toBe(40);
    const next = [...reader.push(encoder.encode('data: x\n\n'))];
    expect(next).toEqual([{ event: 'message', data: 'x', id: '5' }]);
  });

  it('applies an id only at the end of its event', () => {
    const reader = new EventStreamReader({ maxBytes: 100 });
    expect([...reader.push(encoder.encode('id: 1\ndata: a\n'))]).toEqual([]);
    expect(reader.lastEventId).toBeUndefined();
    expect([...reader.push(encoder.encode('\n'))]).toHaveLength(1);
    expect(reader.lastEventId).toBe('1');
  });

  it('ignores an id with NUL and a retry that is not all digits', () => {
    const fields = ['id: good', 'id: a\0b', 'retry: 10', 'retry: 1.5', 'retry: -1', 'retry:', 'retry: 1e3'];
    const [event] = read(`${fields.join('\n')}\nretry: ${'9'.repeat(400)}\ndata: x\n\n`);
    expect(event).toEqual({ event: 'message', data: 'x', id: 'good', retry: 10 });
  });

  it('matches field names exactly', () => {
    expect(data(read('Data: a\n data: b\ndata : c\ndatax: d\n\ndata: e\n\n'))).toEqual(['e']);
  });

  it('drops a byte order mark at the very start only', () => {
    expect(data(read('\uFEFFdata: a\n\n\uFEFFdata: b\n\ndata: c\n\n'))).toEqual(['a', 'c']);
  });

  it('does not take the line feed of a later chunk for an empty line', () => {
    const reader = new EventStreamReader({ maxBytes: 100 });
    const push = (text: string): StreamEvent[] => [...reader.push(encoder.encode(text))];
    expect(push('data: a\r')).toEqual([]);
    expect(push('')).toEqual([]);
    expect(push('\ndata: b\r')).toEqual([]);
    expect(data(push('\r'))).toEqual(['a\nb']);
    expect(push('\n\n')).toEqual([]);
  });

  it('accepts an event of maxBytes, throws on a larger one, and stays failed', () => {
    const fits = new EventStreamReader({ maxBytes: 16 });
    expect([...fits.push(encoder.encode('data: 1\ndata: 234\n\ndata: 0123456789\n\n'))]).toHaveLength(2);
    const reader = new EventStreamReader({ maxBytes: 16 });
    const iterator = reader.push(encoder.encode('id: 1\ndata: a\n\ndata: 1\ndata: 2345\n\ndata: b\n\n'));
    expect(iterator.next().value).toMatchObject({ data: 'a' });
    expect(() => iterator.next()).toThrow(EventTooLarge);
    expect(() => [...reader.push(encoder.encode('data: c\n\n'))]).toThrow(RangeError);
    expect(reader.lastEventId).toBe('1');
  });

  it('throws on an endless line as soon as the limit is exceeded, also in comments', () => {
    for (const start of ['data: ', ': ', '']) {
      const reader = new EventStreamReader({ maxBytes: 64 });
      expect([...reader.push(encoder.encode(start + 'x'.repeat(50)))]).toEqual([]);
      expect(() => [...reader.push(encoder.encode('x'.repeat(50)))]).toThrow('larger than 64 bytes');
    }
  });

  it('does not count comments and repeated fields against the limit', () => {
    const reader = new EventStreamReader({ maxBytes: 64 });
    for (let count = 0; count < 100; count++) {
      expect([...reader.push(encoder.encode(': ping\nevent: a\nid: 1\n'))]).toEqual([]);
    }
    expect(data([...reader.push(encoder.encode('data: x\n\n'))])).toEqual(['x']);
  });
});
