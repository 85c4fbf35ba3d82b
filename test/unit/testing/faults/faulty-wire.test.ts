import { describe, expect, test } from 'vitest';
import type { McpError } from '../../../../src/protocol/errors.js';
import { type FaultPlan, startFaults } from '../../../../src/testing/faults/faults.js';
import { faultyWire } from '../../../../src/testing/faults/faulty-wire.js';
import type { Wire, WireEvents } from '../../../../src/transports/client/wire.js';
import { until } from '../../../support/until.js';

/** A wire that echoes its messages. */
function echo(): { wire: Wire; sent: string[]; closes: () => number; events: () => WireEvents } {
  let events: WireEvents | undefined;
  let closes = 0;
  const sent: string[] = [];
  return {
    sent,
    closes: () => closes,
    events: () => events as WireEvents,
    wire: {
      send(text) {
        sent.push(text);
        events?.message(text);
      },
      start: (listener) => {
        events = listener;
      },
      close: async () => {
        closes += 1;
      },
    },
  };
}

function run(plan: FaultPlan, messages = 200) {
  const inner = echo();
  const faults = startFaults(plan);
  const wire = faultyWire(inner.wire, faults);
  const received: string[] = [];
  const lost: McpError[] = [];
  wire.start({
    message: (text) => received.push(text),
    tooLong: () => undefined,
    problem: () => undefined,
    closed: (reason) => lost.push(reason),
  });
  for (let i = 0; i < messages; i++) wire.send(`message ${i}`);
  return { ...inner, faulty: wire, faults, received, lost };
}

const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `message ${i}`);

test('a faulty wire without faults delivers everything unchanged', () => {
  const { sent, received } = run({ seed: 1 });
  expect(sent).toEqual(texts(200));
  expect(received).toEqual(texts(200));
});

test('a faulty wire does the same for the same seed, and something else for another', () => {
  const plan = { drop: 0.1, duplicate: 0.1, truncate: 0.1, garble: 0.1 };
  const [first, second, third] = [
    run({ ...plan, seed: 7 }),
    run({ ...plan, seed: 7 }),
    run({ ...plan, seed: 8 }),
  ];
  expect(first.received).toEqual(second.received);
  expect(first.faults.events).toEqual(second.faults.events);
  expect(first.received).not.toEqual(third.received);
  expect(first.faults.events.length).toBeGreaterThan(50);
});

test('a fault of a faulty wire does not depend on the rate of another', () => {
  const drops = (plan: FaultPlan) =>
    run(plan).faults.events.filter(({ fault, direction }) => fault === 'drop' && direction === 'sent');
  expect(drops({ seed: 3, drop: 0.1, garble: 0.5 })).toEqual(drops({ seed: 3, drop: 0.1 }));
});

describe('a fault of a faulty wire', () => {
  test('drop loses some messages, and delivers the others in order', () => {
    const { received } = run({ seed: 1, drop: 0.3 });
    expect(received.length).toBeGreaterThan(50);
    expect(received.length).toBeLessThan(150);
    expect(received).toEqual(texts(200).filter((text) => received.includes(text)));
  });

  test('duplicate loses nothing, and delivers some messages twice', () => {
    const { received } = run({ seed: 1, duplicate: 0.2 });
    expect(received.length).toBeGreaterThan(250);
    expect([...new Set(received)]).toEqual(texts(200));
  });

  test('truncate and garble deliver as many messages, some of them cut or changed', () => {
    const cut = run({ seed: 1, truncate: 0.2 }).received;
    expect(cut).toHaveLength(200);
    expect(cut.every((text, i) => `message ${i}`.startsWith(text))).toBe(true);
    expect(cut).not.toEqual(texts(200));
    const changed = run({ seed: 1, garble: 0.2 }).received;
    expect(changed).toHaveLength(200);
    expect(changed.every((text, i) => text.length === `message ${i}`.length)).toBe(true);
    expect(changed).not.toEqual(texts(200));
  });

  test('delay delivers all messages in order', async () => {
    const { received, faults } = run({ seed: 1, delay: 0.2, maxDelayMs: 2 });
    expect(received.length).toBeLessThan(200);
    await until('all have arrived', () => received.length === 200);
    expect(received).toEqual(texts(200));
    expect(faults.events.length).toBeGreaterThan(50);
  });

  test('close breaks the connection once, and closes the wire below it', async () => {
    const { received, lost, closes, faulty } = run({ seed: 1, close: 0.05 });
    expect(lost.map(({ code }) => code)).toEqual(['connection_closed']);
    expect(received.length).toBeLessThan(200);
    await faulty.close();
    expect(closes()).toBe(1);
  });

  test('stall delivers nothing, silently, until the faults stop, and then everything', async () => {
    const { received, sent, lost, faults } = run({ seed: 1, stall: 0.02 });
    const before = sent.length;
    expect(before).toBeLessThan(200);
    expect(lost).toEqual([]);
    faults.stop();
    await until('all have arrived', () => received.length === 200);
    expect(received).toEqual(texts(200));
  });
});

test('a message that is delayed arrives before the end of its connection is reported', async () => {
  const { received, lost, events } = run({ seed: 1, delay: 1, maxDelayMs: 3 }, 0);
  events().message('late');
  events().closed({ code: 'connection_closed' } as McpError);
  expect([received, lost]).toEqual([[], []]);
  await until('the end was reported', () => lost.length === 1);
  expect(received).toEqual(['late']);
});

test('a faulty wire delivers nothing after close', async () => {
  const { received, faulty, faults } = run({ seed: 1, delay: 1, maxDelayMs: 2 }, 5);
  await faulty.close();
  const before = received.length;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(received.length).toBe(before);
  expect(faults.events.length).toBeGreaterThan(0);
});
