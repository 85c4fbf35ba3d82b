import { expect, test, vi } from 'vitest';
import type { LoggedEvent } from '../../../src/state/event-log.js';
import { type EventBatch, EventReader, type EventReaderParts } from '../../../src/state/event-reader.js';
import { soon } from '../../support/until.js';

/** A stream that the test fills. */
function stream(more: Partial<EventReaderParts> = {}) {
  const stored: LoggedEvent[] = [];
  let position = 0;
  const state = { isGone: false, isGap: false };
  const read = vi.fn(async (): Promise<EventBatch | undefined> => {
    if (state.isGone) return undefined;
    const events = stored.slice(position);
    position = stored.length;
    return { events, isGap: state.isGap, hasEnded: false };
  });
  const release = vi.fn();
  const stop = new AbortController();
  const reader = new EventReader({ stream: 's', read, release, signal: stop.signal, ...more });
  const add = (data: string, last = false): void => {
    stored.push({ id: `s-${stored.length}`, data, last });
    reader.wake();
  };
  return { reader, add, read, release, stop, state };
}

async function all(reader: EventReader): Promise<string[]> {
  const data: string[] = [];
  for await (const event of reader) data.push(event.data);
  return data;
}

test('A reader yields the events that there are, waits for others, and ends with the last one', async () => {
  const { reader, add, read, release } = stream();
  add('a');
  add('b');
  const events = reader[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ data: 'a' });
  expect((await events.next()).value).toMatchObject({ data: 'b' });
  const next = events.next();
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2));
  add('c', true);
  expect((await soon('the event', next)).value).toMatchObject({ data: 'c' });
  expect(release).not.toHaveBeenCalled();
  expect((await events.next()).done).toBe(true);
  expect(release).toHaveBeenCalledTimes(1);
});

test('An event that is stored while the log is read is not missed', async () => {
  let wake = (): void => undefined;
  const batches: LoggedEvent[][] = [[], [{ id: 's-1', data: 'late', last: true }]];
  const read = async (): Promise<EventBatch> => {
    const events = batches.shift() ?? [];
    // The engine has answered already that there is nothing.
    if (events.length === 0) wake();
    return { events, isGap: false, hasEnded: false };
  };
  const { reader } = stream({ read });
  wake = () => reader.wake();
  expect(await soon('the event', all(reader))).toEqual(['late']);
});

test('Events that were read already come first, and their gap is not an error', async () => {
  const first = { events: [{ id: 's-0', data: 'first', last: false }], isGap: true, hasEnded: false };
  const { reader, add } = stream({ first });
  add('second', true);
  expect(await soon('the end', all(reader))).toEqual(['first', 'second']);
});

test('A reader fails if the log has dropped events that it had not read', async () => {
  const { reader, add, state, release } = stream();
  const events = reader[Symbol.asyncIterator]();
  add('a');
  await events.next();
  state.isGap = true;
  add('z');
  await expect(events.next()).rejects.toThrow(
    'Events of the stream s were dropped before they were read. Resume the stream to learn of the gap.',
  );
  expect(release).toHaveBeenCalledTimes(1);
});

test('A reader ends when its stream is gone, or had ended before', async () => {
  const gone = stream();
  gone.state.isGone = true;
  expect(await all(gone.reader)).toEqual([]);
  const ended = stream({ first: { events: [], isGap: false, hasEnded: true } });
  expect(await all(ended.reader)).toEqual([]);
  expect(ended.read).not.toHaveBeenCalled();
});

test('A reader that waits or reads ends without an error when its signal aborts, and lets go of its stream once', async () => {
  const waiting = stream();
  const ended = all(waiting.reader);
  await vi.waitFor(() => expect(waiting.read).toHaveBeenCalled());
  waiting.stop.abort();
  expect(await soon('the end', ended)).toEqual([]);
  expect(waiting.release).toHaveBeenCalledTimes(1);

  const reading = stream({ read: () => new Promise(() => undefined) });
  const stopped = all(reading.reader);
  reading.stop.abort();
  expect(await soon('the end', stopped)).toEqual([]);
  expect(reading.release).toHaveBeenCalledTimes(1);
});

test('A signal that aborts before anything is read releases the stream', () => {
  const { stop, release } = stream();
  stop.abort();
  expect(release).toHaveBeenCalledTimes(1);
});

test('A reader that is ended with an error fails with it, and otherwise ends', async () => {
  const closed = stream();
  const failing = expect(all(closed.reader)).rejects.toThrow('The event log is closed.');
  closed.reader.end(new Error('The event log is closed.'));
  await soon('the error', failing);

  const dropped = stream({ read: () => Promise.reject(new Error('The connection is closed.')) });
  dropped.reader.end();
  expect(await soon('the end', all(dropped.reader))).toEqual([]);
});

test('A failure of the log is the failure of the reader', async () => {
  const { reader, release } = stream({ read: () => Promise.reject(new Error('The database is away.')) });
  await expect(all(reader)).rejects.toThrow('The database is away.');
  expect(release).toHaveBeenCalledTimes(1);
});

test('A program that stops to read lets go of the stream', async () => {
  const { reader, add, release } = stream();
  add('a');
  add('b');
  for await (const event of reader) {
    expect(event.data).toBe('a');
    break;
  }
  expect(release).toHaveBeenCalledTimes(1);
});
