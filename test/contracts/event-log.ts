import { describe, expect, test } from 'vitest';
import type { EventLog } from '../../src/legacy/server/http/event-log.js';

/** The promises of every event log, wherever it stores events. `create` makes one with room for a hundred events. */
export function eventLogContract(name: string, create: () => EventLog | Promise<EventLog>): void {
  describe(`${name}: the contract of an event log`, () => {
    test('returns the events after a given one, in order', async () => {
      const log = await create();
      const ids = ['a', 'b', 'c', 'd'].map((data) => log.append('one', data));
      expect(log.after(String(ids[1]))).toEqual({
        stream: 'one',
        events: [
          { id: ids[2], data: 'c' },
          { id: ids[3], data: 'd' },
        ],
        gap: false,
      });
    });

    test('returns no events after the last one, but knows it', async () => {
      const log = await create();
      const id = log.append('one', 'a');
      expect(log.after(id)).toEqual({ stream: 'one', events: [], gap: false });
    });

    test('keeps streams apart', async () => {
      const log = await create();
      const first = log.append('one', 'a');
      log.append('two', 'x');
      const second = log.append('one', 'b');
      expect(log.after(first)).toEqual({ stream: 'one', events: [{ id: second, data: 'b' }], gap: false });
    });

    test('gives every event an id of its own', async () => {
      const log = await create();
      const ids = ['one', 'two', 'one', 'two'].flatMap((stream) =>
        Array.from({ length: 10 }, () => log.append(stream, 'same')),
      );
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]+$/);
    });

    test('issues ids that start with the name of the stream, by which a session recognizes its own', async () => {
      const log = await create();
      expect(log.append('one', 'a').startsWith('one')).toBe(true);
    });

    test('distinguishes names that differ only by a possible separator', async () => {
      const log = await create();
      const names = ['s', 's-0', 's-0-0', '-', 's.', 'S'];
      const ids = names.map((stream) => log.append(stream, `first of ${stream}`));
      for (const stream of names) log.append(stream, `second of ${stream}`);
      for (const [at, stream] of names.entries()) {
        const known = log.after(String(ids[at]));
        expect(known?.stream).toBe(stream);
        expect(known?.events.map(({ data }) => data)).toEqual([`second of ${stream}`]);
      }
    });

    test('stores an event without data, and any string unchanged', async () => {
      const log = await create();
      const first = log.append('one', '');
      const data = 'line\nbreak "quoted" \u2028 漢字 🙂';
      log.append('one', data);
      log.append('one', '');
      expect(log.after(first)?.events.map((event) => event.data)).toEqual([data, '']);
    });

    test.each(['', '-', 'one', 'one-', 'one-!', 'one-zz-', 'two-0', '__proto__-0', 'constructor-0'])(
      'does not know the id %j',
      async (id) => {
        const log = await create();
        log.append('one', 'a');
        expect(log.after(id)).toBeUndefined();
      },
    );

    test('forgets a dropped stream and no other', async () => {
      const log = await create();
      const one = log.append('one', 'a');
      const two = log.append('two', 'a');
      log.drop('one');
      log.drop('one');
      log.drop('never there');
      expect(log.after(one)).toBeUndefined();
      expect(log.after(two)).toBeDefined();
    });
  });
}
