// The contract of an event log, as cases for any test runner.

import assert from 'node:assert/strict';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { EventLog, LoggedEvent } from '../../state/event-log.js';
import { type ContractCase, eventually, uniqueName } from './contract.js';

/** The event log that a contract suite tests. */
export interface EventLogContractOptions {
  /** Opens the log. Called for each case. It may have the streams of earlier cases. */
  readonly open: () => EventLog | Promise<EventLog>;
  /** Opens the same log again, as another process would. Default: the log that `open` returned. */
  readonly openAnother?: () => EventLog | Promise<EventLog>;
}

const optionTable = {
  open: { is: 'function', required: true },
  openAnother: 'function',
} as const satisfies OptionTable<EventLogContractOptions>;

interface LogCase {
  readonly log: EventLog;
  readonly other: EventLog;
  readonly stream: string;
}

/** Makes the cases that every event log has to pass. Pass each to your test runner. */
export function eventLogContract(options: EventLogContractOptions): readonly ContractCase[] {
  const { open, openAnother } = readOptions('eventLogContract', options, optionTable);
  return Object.entries(cases).map(([name, test]) => ({
    name,
    async run() {
      const log = await open();
      const other = (await openAnother?.()) ?? log;
      try {
        await test({ log, other, stream: `${uniqueName()}.p1` });
      } finally {
        await log.close();
        if (other !== log) await other.close();
      }
    },
  }));
}

const cases: Readonly<Record<string, (subject: LogCase) => Promise<void>>> = {
  async 'An event log returns the events after another one, in order, to any process'({
    log,
    other,
    stream,
  }) {
    const texts = ['', 'a\nb\r\n\0', 'é漢😀\u2028', '{"n":1}', 'x'.repeat(100_000)];
    const ids: string[] = [];
    for (const text of texts) ids.push(await log.append(stream, text));
    ids.push(await log.append(stream, 'end', { last: true }));
    for (const id of ids) assert.ok(id.startsWith(`${stream}-`), id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [at, id] of ids.entries()) {
      const events = await readAll(other, id);
      assert.deepEqual(
        events.map((event) => event.id),
        ids.slice(at + 1),
      );
      assert.deepEqual(
        events.map(({ data }) => data),
        [...texts, 'end'].slice(at + 1),
      );
      assert.deepEqual(
        events.map(({ last }) => last),
        events.map((_, index) => index === events.length - 1),
      );
    }
  },

  async 'An event log knows nothing of streams that it has not seen, and of ids that are none'({
    log,
    stream,
  }) {
    const { signal } = new AbortController();
    for (const id of [
      `${stream}-0`,
      `${stream}-1`,
      stream,
      '',
      '-',
      `${stream}-\u{1f600}`,
      `${stream}-99999999999999999999`,
    ])
      assert.equal(await log.follow(id, signal), undefined, id);
  },

  async 'An event log hands on events while another process appends them, each once'({ log, other, stream }) {
    for (let round = 0; round < 10; round++) {
      const name = `${stream}.${round}`;
      const first = await log.append(name, 'begin');
      const appending = (async () => {
        for (let n = 0; n < 20; n++) await log.append(name, `${n}`);
        await log.append(name, 'end', { last: true });
      })();
      const [mine, others] = await Promise.all([readAll(log, first), readAll(other, first), appending]);
      const expected = [...Array.from({ length: 20 }, (_, n) => `${n}`), 'end'];
      assert.deepEqual(
        mine.map(({ data }) => data),
        expected,
      );
      assert.deepEqual(others, mine);
    }
  },

  async 'An event log gives all readers the same order, however many processes write'({
    log,
    other,
    stream,
  }) {
    const first = await log.append(stream, 'begin');
    const readers = [readAll(log, first), readAll(other, first)];
    const writes = Array.from({ length: 60 }, (_, n) => (n % 2 ? log : other).append(stream, `${n}`));
    const ids = await Promise.all(writes);
    await other.append(stream, 'end', { last: true });
    const [mine, others] = (await Promise.all(readers)) as [LoggedEvent[], LoggedEvent[]];
    assert.deepEqual(others, mine);
    assert.deepEqual(
      mine
        .slice(0, -1)
        .map(({ id }) => id)
        .sort(),
      [...ids].sort(),
    );
    const middle = mine[30] as LoggedEvent;
    assert.deepEqual(await readAll(other, middle.id), mine.slice(31));
  },

  async 'An event log keeps streams apart'({ log, stream }) {
    const [a, b] = [`${stream}a`, `${stream}b`];
    const first = await log.append(a, 'a1');
    await log.append(b, 'b1');
    await log.append(b, 'b2', { last: true });
    await log.append(a, 'a2', { last: true });
    assert.deepEqual(
      (await readAll(log, first)).map(({ data }) => data),
      ['a2'],
    );
  },

  async 'An event log ends a reader when its signal aborts'({ log, other, stream }) {
    const first = await log.append(stream, 'begin');
    const controller = new AbortController();
    const followed = await other.follow(first, controller.signal);
    assert.ok(followed);
    assert.deepEqual([followed.stream, followed.gap], [stream, false]);
    const received: string[] = [];
    const reading = (async () => {
      for await (const { data } of followed.events) received.push(data);
    })();
    await log.append(stream, 'one');
    await eventually('the event arrived', () => (received.length > 0 ? true : undefined));
    controller.abort();
    await reading;
    await log.append(stream, 'two');
    assert.deepEqual(received, ['one']);
  },

  async 'An event log forgets a stream that was dropped'({ log, other, stream }) {
    const first = await log.append(stream, 'begin');
    await log.append(stream, 'more');
    await log.drop(stream);
    await log.drop(stream);
    assert.equal(await other.follow(first, new AbortController().signal), undefined);
  },

  async 'An event log reports a gap for an id from before a stream was dropped'({ log, other, stream }) {
    const first = await log.append(stream, 'begin');
    await log.append(stream, 'more');
    await log.drop(stream);
    const second = await log.append(stream, 'again');
    const third = await log.append(stream, 'end', { last: true });
    assert.notEqual(second, first);
    const followed = await other.follow(first, new AbortController().signal);
    if (followed !== undefined) assert.equal(followed.gap, true);
    assert.deepEqual(
      (await readAll(other, second)).map(({ id }) => id),
      [third],
    );
  },
};

async function readAll(log: EventLog, after: string): Promise<LoggedEvent[]> {
  const followed = await log.follow(after, new AbortController().signal);
  assert.ok(followed, `The stream of ${after} is unknown`);
  assert.equal(followed.gap, false);
  const events: LoggedEvent[] = [];
  for await (const { id, data, last } of followed.events) events.push({ id, data, last });
  return events;
}
