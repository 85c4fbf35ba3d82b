// The contract of a bus, as cases for any test runner.

import assert from 'node:assert/strict';
import type { JsonObject } from '../../jsonrpc/message.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { Bus } from '../../state/bus.js';
import { type ContractCase, eventually, uniqueName } from './contract.js';

/** The bus that a contract suite tests. */
export interface BusContractOptions {
  /** Opens the bus. Called for each case. */
  readonly open: () => Bus | Promise<Bus>;
  /** Opens the same bus again, as another process would. Default: the bus that `open` returned. */
  readonly openAnother?: () => Bus | Promise<Bus>;
  /** Breaks all connections of the bus, and resolves when it can be reached again. Default: a bus that cannot break. */
  readonly interrupt?: () => Promise<void>;
}

const optionTable = {
  open: { is: 'function', required: true },
  openAnother: 'function',
  interrupt: 'function',
} as const satisfies OptionTable<BusContractOptions>;

interface BusCase {
  readonly bus: Bus;
  readonly other: Bus;
  readonly topic: string;
  readonly interrupt: (() => Promise<void>) | undefined;
}

/** Makes the cases that every bus has to pass. Pass each to your test runner. */
export function busContract(options: BusContractOptions): readonly ContractCase[] {
  const { open, openAnother, interrupt } = readOptions('busContract', options, optionTable);
  return Object.entries(cases).map(([name, test]) => ({
    name,
    async run() {
      const bus = await open();
      const other = (await openAnother?.()) ?? bus;
      try {
        await test({ bus, other, topic: `t-${uniqueName()}`, interrupt });
      } finally {
        await bus.close();
        if (other !== bus) await other.close();
      }
    },
  }));
}

const cases: Readonly<Record<string, (subject: BusCase) => Promise<void>>> = {
  async 'A bus carries every message to every subscriber of its topic, in this process and in others'({
    bus,
    other,
    topic,
  }) {
    const inboxes = await Promise.all([bus, bus, other].map((each) => collect(each, topic)));
    const elsewhere = await collect(other, `${topic}2`);
    const messages = [{ n: 1, text: 'é漢😀\0\n\u2028' }, { n: 2 }, { n: 3, list: [null, true, {}] }];
    for (const message of messages) await bus.publish(topic, message);
    for (const { received } of inboxes) {
      await eventually('all messages arrived', () => (received.length >= 3 ? true : undefined));
      assert.deepEqual(received, messages);
    }
    await other.publish(`${topic}2`, { n: 4 });
    await eventually('the other topic has its message', () =>
      elsewhere.received.length > 0 ? true : undefined,
    );
    assert.deepEqual(elsewhere.received, [{ n: 4 }]);
    assert.deepEqual(inboxes[0]?.received, messages);
  },

  async 'A bus keeps the order of the messages of a process'({ bus, other, topic }) {
    const { received } = await collect(other, topic);
    const sent = Array.from({ length: 500 }, (_, n) => ({ n }));
    await Promise.all(sent.map((message) => bus.publish(topic, message)));
    await eventually('all messages arrived', () => (received.length >= sent.length ? true : undefined));
    assert.deepEqual(received, sent);
  },

  async 'A bus calls a subscriber no more when its subscription has ended'({ bus, other, topic }) {
    const [ended, running] = await Promise.all([collect(other, topic), collect(other, topic)]);
    ended.unsubscribe();
    ended.unsubscribe();
    await bus.publish(topic, { n: 1 });
    await eventually('the message arrived', () => (running.received.length > 0 ? true : undefined));
    assert.deepEqual(ended.received, []);
    running.unsubscribe();
    const again = await collect(other, topic);
    await bus.publish(topic, { n: 2 });
    await eventually('the message arrived', () => (again.received.length > 0 ? true : undefined));
    assert.deepEqual([running.received, again.received], [[{ n: 1 }], [{ n: 2 }]]);
  },

  async 'A bus reports a gap after an interruption, and misses nothing after that'({
    bus,
    other,
    topic,
    interrupt,
  }) {
    if (interrupt === undefined) return;
    const { received, gaps } = await collect(other, topic);
    for (let n = 1; n <= 2; n++) {
      await interrupt();
      await eventually('the gap was reported', () => (gaps.count >= n ? true : undefined));
      received.length = 0;
      await eventually('the bus accepts messages again', () =>
        bus.publish(topic, { n }).then(
          () => true,
          () => undefined,
        ),
      );
      await eventually('the message arrived', () =>
        received.some((message) => message['n'] === n) ? true : undefined,
      );
    }
  },
};

async function collect(bus: Bus, topic: string) {
  const received: JsonObject[] = [];
  const gaps = { count: 0 };
  const unsubscribe = await bus.subscribe(topic, {
    message: (message) => received.push(message),
    gap: () => void gaps.count++,
  });
  return { received, gaps, unsubscribe };
}
