import { describe, expect, test, vi } from 'vitest';
import { GuardedLog } from '../../../../../src/legacy/server/http/guarded-log.js';
import { ResumableStream } from '../../../../../src/legacy/server/http/resumable-stream.js';
import type { EventLog } from '../../../../../src/state/event-log.js';
import { memoryEventLog } from '../../../../../src/state/memory/event-log.js';
import type { EventStream } from '../../../../../src/transports/http/server/event-streams.js';
import { until } from '../../../../support/until.js';

interface Sent {
  id?: string | undefined;
  data?: string | undefined;
}

class Connection implements EventStream {
  readonly events: Sent[] = [];
  isOpen = true;

  send(event: Sent): void {
    if (this.isOpen) this.events.push(event);
  }

  end(): void {
    this.isOpen = false;
  }

  get texts(): (string | undefined)[] {
    return this.events.map(({ data }) => data);
  }
}

const warnings: string[] = [];

function open(log: EventLog, options: { retryMs?: number; timeoutMs?: number } = {}) {
  warnings.length = 0;
  const { retryMs, timeoutMs = 50 } = options;
  const guarded = new GuardedLog(log, { warn: (message) => void warnings.push(message), timeoutMs });
  let isDone = false;
  const onDone = (): void => {
    isDone = true;
  };
  const stream = new ResumableStream('s.p1', { log: guarded, retryMs, onDone });
  const connection = new Connection();
  stream.begin(connection);
  const resume = async (after: string): Promise<Connection> => {
    const controller = new AbortController();
    const again = new Connection();
    const followed = await guarded.follow(after, controller.signal);
    stream.resume(again, followed && { after, stream: followed, controller });
    return again;
  };
  return { stream, connection, resume, guarded, isDone: () => isDone };
}

/** Another stream object of the same name, without a connection. */
function reopen(log: EventLog) {
  let isDone = false;
  const onDone = (): void => {
    isDone = true;
  };
  const stream = new ResumableStream('s.p1', { log: new GuardedLog(log, { timeoutMs: 50 }), onDone });
  return { stream, isDone: () => isDone };
}

/** A log whose appends wait until they are let through, one by one. */
function gatedLog() {
  const inner = memoryEventLog();
  const gates: (() => void)[] = [];
  const log: EventLog = {
    ...methodsOf(inner),
    append: async (...args) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return inner.append(...args);
    },
  };
  return { log, inner, gates };
}

function methodsOf(log: EventLog): EventLog {
  return {
    append: (...args) => log.append(...args),
    follow: (...args) => log.follow(...args),
    drop: (stream) => log.drop(stream),
    close: () => log.close(),
  };
}

/** A log that fails until `works` is set. */
function failingLog() {
  const inner = memoryEventLog();
  const state = { works: false, tries: 0 };
  const log: EventLog = {
    ...methodsOf(inner),
    append: async (...args) => {
      state.tries++;
      if (!state.works) throw new Error('The disk is full.');
      return inner.append(...args);
    },
  };
  return { log, inner, state };
}

describe('a resumable stream', () => {
  test('sends no event before it is stored, and keeps their order', async () => {
    const { log, gates } = gatedLog();
    const { stream, connection, isDone } = open(log, { timeoutMs: 10_000 });
    for (const text of ['a', 'b', 'c']) stream.send(text);
    stream.send('end', { last: true, keep: true });
    for (let at = 0; at < 4; at++) {
      await until('the next event is being stored', () => gates.length === at + 1);
      expect(connection.texts).toEqual(['a', 'b', 'c', 'end'].slice(0, at));
      gates[at]?.();
    }
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['a', 'b', 'c', 'end']);
    expect(new Set(connection.events.map(({ id }) => id)).size).toBe(4);
    expect(isDone()).toBe(true);
  });

  test('sends each event once to a client that resumes while events are written', async () => {
    for (let round = 0; round < 50; round++) {
      const { stream, connection, resume } = open(memoryEventLog(), { retryMs: 1 });
      let next = 0;
      const write = (count: number): void => {
        for (let at = 0; at < count; at++) stream.send(`${next++}`);
      };
      write(round % 7);
      await stream.stored();
      write(3);
      const again = await resume(String(connection.events.at(-1)?.id));
      const before = connection.texts.slice(1);
      write(2);
      await Promise.resolve();
      write(2);
      stream.send('end', { last: true, keep: true });
      await until('the stream has ended', () => !again.isOpen);
      const all = [...before, ...again.texts];
      // The first connection may have got more before it ended, which the second got again.
      expect(new Set(all)).toEqual(new Set([...Array.from({ length: next }, (_, at) => `${at}`), 'end']));
      expect(again.texts).toEqual([...again.texts].sort((a, b) => order(a) - order(b)));
      expect(new Set(again.texts).size).toBe(again.texts.length);
    }
  });

  const order = (text: string | undefined): number => (text === 'end' ? 1e9 : Number(text));

  test('gets the events that another process writes, after it was told to follow', async () => {
    const log = memoryEventLog();
    const { stream, connection, isDone } = open(log);
    stream.send('question', { keep: true });
    stream.follow();
    await stream.stored();
    await log.append('s.p1', 'progress');
    await log.append('s.p1', 'result', { last: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['question', 'progress', 'result']);
    expect(isDone()).toBe(true);
  });

  test('that follows also sends what this process writes, once', async () => {
    const log = memoryEventLog();
    const { stream, connection } = open(log);
    stream.send('question', { keep: true });
    stream.follow();
    await stream.stored();
    await log.append('s.p1', 'theirs');
    stream.send('ours');
    stream.send('result', { last: true, keep: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['question', 'theirs', 'ours', 'result']);
  });

  test('that continues another one gets its connection, reads what others wrote meanwhile, and nothing of the old one', async () => {
    const log = memoryEventLog();
    const { stream: old, connection } = open(log);
    old.send('begun');
    await old.stored();
    await log.append('s.p1', 'question of another process');
    const { stream: next } = reopen(log);
    next.succeed(old);
    old.send('late event of the old one', { last: true, keep: true });
    old.abandon();
    next.send('progress');
    next.send('response', { last: true, keep: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['begun', 'question of another process', 'progress', 'response']);
  });

  test('that continues another one ends when the connection of the old one does', async () => {
    const { stream: old, connection } = open(memoryEventLog());
    old.send('begun');
    await old.stored();
    const { stream: next, isDone } = reopen(memoryEventLog());
    next.succeed(old);
    await next.stored();
    old.leave('gone');
    expect([connection.isOpen, isDone()]).toEqual([false, true]);
  });

  test('that continues another one, whose client has no id yet, sends what it writes', async () => {
    const log = memoryEventLog();
    const { stream: old, connection } = open(log);
    const { stream: next } = reopen(log);
    next.succeed(old);
    next.send('response', { last: true, keep: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['response']);
  });

  test('is not kept by a process whose client is gone while others write it', async () => {
    const { stream, connection, isDone } = open(memoryEventLog());
    stream.send('question', { keep: true });
    stream.follow();
    await stream.stored();
    expect(isDone()).toBe(false);
    stream.disconnect();
    expect([connection.isOpen, isDone()]).toEqual([false, true]);
  });

  test('closes the connection after the events that were sent before', async () => {
    const { stream, connection, isDone } = open(memoryEventLog(), { retryMs: 5 });
    stream.release();
    await until('the connection is closed', () => !connection.isOpen);
    expect(connection.events).toEqual([{ id: expect.any(String), data: '', retry: 5 }]);
    expect(isDone()).toBe(false);
  });

  test('is written further after it was released twice without an event in between', async () => {
    const log = memoryEventLog();
    const { stream, resume, connection } = open(log, { retryMs: 1 });
    await stream.stored();
    stream.release();
    stream.release();
    const again = await resume(String(connection.events[0]?.id));
    stream.send('result', { last: true, keep: true });
    await until('the client has the result', () => !again.isOpen);
    expect(again.texts).toEqual(['result']);
  });
});

describe('a resumable stream whose log fails', () => {
  test('sends the events without ids, and the operator is told once', async () => {
    const { log, state } = failingLog();
    const { stream, connection } = open(log);
    for (let at = 0; at < 100; at++) stream.send(`${at}`);
    stream.send('result', { last: true, keep: true });
    await until('the client has the result', () => !connection.isOpen);
    expect(connection.texts).toEqual([...Array.from({ length: 100 }, (_, at) => `${at}`), 'result']);
    expect(connection.events.every(({ id }) => id === undefined)).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('The disk is full.')]);
    // Not tried again with each event.
    expect(state.tries).toBeLessThan(10);
    state.works = true;
    await stream.stored();
  });

  test('stores the result when the log works again, for a client that is away', async () => {
    const { log, inner, state } = failingLog();
    state.works = true;
    const { stream, connection } = open(log, { retryMs: 1 });
    await stream.stored();
    const first = String(connection.events[0]?.id);
    stream.disconnect();
    state.works = false;
    stream.send('progress');
    stream.send('result', { last: true, keep: true });
    await until('the log was tried', () => state.tries > 1);
    state.works = true;
    await stream.stored();
    const followed = await inner.follow(first, new AbortController().signal);
    const texts: string[] = [];
    for await (const { data } of followed?.events ?? []) texts.push(data);
    expect(texts).toEqual(['result']);
    expect(warnings.at(-1)).toContain('works again');
  });

  test('does not send a question before the log has it, because another process may append the response', async () => {
    const { log, inner, state } = failingLog();
    const { stream, connection } = open(log);
    const isStored = stream.sendStored('question');
    await until('the log has failed', () => state.tries > 0);
    expect(connection.texts).toEqual([]);
    state.works = true;
    expect(await isStored).toBe(true);
    expect(connection.events).toEqual([{ id: expect.any(String), data: 'question' }]);
    stream.follow();
    await inner.append('s.p1', 'response', { last: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['question', 'response']);
  });

  test('ends the connection of a client that could never be told where to read on', async () => {
    const { log } = failingLog();
    const { stream, connection, isDone } = open(log);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const isStored = stream.sendStored('question');
      stream.follow();
      await vi.advanceTimersByTimeAsync(20_000);
      expect([await isStored, connection.texts, connection.isOpen, isDone()]).toEqual([
        false,
        [],
        false,
        true,
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('says that a question was not stored, and does not send it', async () => {
    const { log } = failingLog();
    const { stream, connection } = open(log);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const isStored = stream.sendStored('question');
      await vi.advanceTimersByTimeAsync(20_000);
      expect(await isStored).toBe(false);
    } finally {
      vi.useRealTimers();
    }
    stream.send('error', { last: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['error']);
    expect(await stream.sendStored('late')).toBe(false);
  });

  test('does not wait long for a log that never responds', async () => {
    const { log } = gatedLog();
    const { stream, connection } = open(log, { timeoutMs: 20 });
    stream.send('a');
    stream.send('b');
    await until('the client has both', () => connection.events.length === 2);
    expect(connection.events).toEqual([{ data: 'a' }, { data: 'b' }]);
    expect(warnings).toEqual([expect.stringContaining('20 ms')]);
  });

  test('keeps a bounded number of events for a log that is slow', async () => {
    const { log, gates } = gatedLog();
    const { stream, connection } = open(log, { timeoutMs: 600_000 });
    for (let at = 0; at < 1001; at++) stream.send(`${at}`);
    // The log has stored nothing yet, and the client has all of them.
    expect(connection.texts).toEqual(Array.from({ length: 1001 }, (_, at) => `${at}`));
    stream.send('x'.repeat(2_000_000));
    expect(connection.events).toHaveLength(1002);
    stream.send('result', { last: true, keep: true });
    gates[0]?.();
    await until('the result is being stored', () => gates.length === 2);
    gates[1]?.();
    await until('the client has the result', () => !connection.isOpen);
    expect(connection.texts.at(-1)).toBe('result');
    expect(gates).toHaveLength(2);
  });

  test('drops progress, but not the result, while a client is away and the log is slow', async () => {
    const { log, inner, gates } = gatedLog();
    const { stream, connection } = open(log, { timeoutMs: 600_000, retryMs: 1 });
    gates[0]?.();
    await stream.stored();
    const first = String(connection.events[0]?.id);
    stream.disconnect();
    for (let at = 0; at < 5000; at++) stream.send('x'.repeat(1000));
    stream.send('result', { last: true, keep: true });
    const passing = setInterval(() => {
      for (const open of gates) open();
    }, 1);
    await stream.stored();
    clearInterval(passing);
    const followed = await inner.follow(first, new AbortController().signal);
    const texts: string[] = [];
    for await (const { data } of followed?.events ?? []) texts.push(data);
    expect(texts.at(-1)).toBe('result');
    expect(texts.length).toBeLessThan(1100);
  });

  test('gets a result that is too large for the log if it is connected, and an error if it is not', async () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const huge = 'x'.repeat(6000);
    const one = open(log, { retryMs: 1 });
    await one.stream.stored();
    one.stream.send(huge, { last: true, keep: true, instead: 'too large' });
    await until('the client has the result', () => !one.connection.isOpen);
    expect(one.connection.events.at(-1)).toEqual({ data: huge });
    await one.stream.stored();
    const late = await one.resume(String(one.connection.events[0]?.id));
    await until('the stream has ended', () => !late.isOpen);
    expect(late.texts).toEqual(['too large']);
    expect(warnings).toEqual([]);
  });

  test('goes on reading where it stopped when the log can be read again', async () => {
    const inner = memoryEventLog();
    let breaks = 0;
    const log: EventLog = {
      ...methodsOf(inner),
      async follow(after, signal) {
        const followed = await inner.follow(after, signal);
        if (followed === undefined || breaks > 2) return followed;
        breaks++;
        return { ...followed, events: breakAfterOne(followed.events) };
      },
    };
    const { stream, connection } = open(log);
    stream.send('question', { keep: true });
    stream.follow();
    await stream.stored();
    for (const text of ['1', '2', '3', '4']) await inner.append('s.p1', text);
    await inner.append('s.p1', 'result', { last: true });
    await until('the stream has ended', () => !connection.isOpen);
    expect(connection.texts).toEqual(['question', '1', '2', '3', '4', 'result']);
    expect(warnings).toEqual([expect.stringContaining('The connection broke.')]);
  });

  async function* breakAfterOne<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const event of events) {
      yield event;
      throw new Error('The connection broke.');
    }
  }
});

describe('a resumable stream that other processes write', () => {
  test('is read on by a client that resumed it while the log could not be read', async () => {
    const inner = memoryEventLog();
    let isAway = false;
    const log: EventLog = {
      ...methodsOf(inner),
      follow: async (...args) => (isAway ? Promise.reject(new Error('away')) : inner.follow(...args)),
    };
    const { stream, connection } = open(log);
    stream.send('question', { keep: true });
    stream.follow();
    await stream.stored();
    isAway = true;
    const again = new Connection();
    stream.resume(again, { after: String(connection.events[0]?.id), controller: new AbortController() });
    await until('the operator was told', () => warnings.length > 0);
    isAway = false;
    await inner.append('s.p1', 'result', { last: true });
    await until('the stream has ended', () => !again.isOpen);
    expect(again.texts).toEqual(['result']);
  });

  test('disconnects a client if the log has forgotten the stream', async () => {
    const { stream, isDone } = open(memoryEventLog());
    stream.send('question', { keep: true });
    stream.follow();
    await stream.stored();
    const again = new Connection();
    stream.resume(again, undefined);
    expect(again.isOpen).toBe(false);
    expect(isDone()).toBe(true);
  });

  test('gets no event from a process that has lost it, and the client has to resume', async () => {
    const inner = memoryEventLog();
    const { stream, connection } = open(inner);
    stream.own(Promise.resolve({ confirm: async () => false }));
    stream.send('too late', { last: true });
    await until('the connection is closed', () => !connection.isOpen);
    expect(connection.texts).toEqual([]);
    expect(await inner.follow('s.p1-0', new AbortController().signal)).toBeUndefined();
  });

  test('gives no id to an event that was stored after the process had lost the stream, so that the client finds the end', async () => {
    const { log, inner, gates } = gatedLog();
    const { stream, connection } = open(log, { timeoutMs: 5000 });
    let isOwn = true;
    stream.own({ confirm: () => isOwn });
    stream.send('before');
    await until('the event is being stored', () => gates.length === 1);
    gates.shift()?.();
    await until('the event is sent', () => connection.events.length === 1);
    stream.send('late');
    await until('the second event is being stored', () => gates.length === 1);
    isOwn = false;
    const end = await inner.append('s.p1', 'end', { last: true });
    gates.shift()?.();
    await until('the client has to resume', () => !connection.isOpen);
    expect(connection.texts).toEqual(['before']);
    const followed = await inner.follow(String(connection.events[0]?.id), new AbortController().signal);
    const first = await followed?.events[Symbol.asyncIterator]().next();
    expect(first?.value).toMatchObject({ id: end, data: 'end', last: true });
  });
});

test('a resumable stream is complete when its last event is stored, or sent to a client that is connected', async () => {
  const { stream: stored, connection: away } = open(memoryEventLog());
  stored.disconnect();
  stored.send('response', { last: true, keep: true });
  expect(stored.isComplete).toBe(false);
  await stored.stored();
  expect([stored.isComplete, away.texts]).toEqual([true, []]);

  const { stream: sent, connection } = open(failingLog().log);
  sent.send('response', { last: true });
  await sent.stored();
  expect([sent.isComplete, connection.texts]).toEqual([true, ['response']]);

  const { stream: neither } = open(failingLog().log);
  neither.disconnect();
  neither.send('response', { last: true });
  await neither.stored();
  expect(neither.isComplete).toBe(false);
});

test('a resumable stream that another one has succeeded is not complete, although its response was sent to it', async () => {
  const log = memoryEventLog();
  const { stream: old } = open(log);
  reopen(log).stream.succeed(old);
  old.send('response', { last: true, keep: true });
  await old.stored();
  expect(old.isComplete).toBe(false);
});

test('events have no ids while no other process would end the stream, and ids again as soon as one would', async () => {
  const guarded = new GuardedLog(memoryEventLog(), { warn: () => undefined, timeoutMs: 50 });
  const stream = new ResumableStream('s.p1', { log: guarded, retryMs: 10 });
  const connection = new Connection();
  stream.begin(connection, Promise.resolve(undefined));
  stream.send('a');
  stream.release();
  await stream.stored();
  expect(connection.events).toEqual([{ data: '', retry: 10 }, { data: 'a' }]);
  expect(connection.isOpen).toBe(true);
  stream.own({ confirm: () => true });
  expect(await stream.sendStored('b')).toBe(true);
  expect(connection.events.at(-1)).toEqual({ data: 'b', id: expect.any(String) });
});
