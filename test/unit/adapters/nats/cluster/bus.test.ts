import { nats } from 'fullmcp/nats';
import { busContract } from 'fullmcp/testing';
import { afterEach, expect, test } from 'vitest';
import type { Bus } from '../../../../../src/state/bus.js';
import type { Cluster } from '../../../../../src/state/cluster.js';
import { describeWithNats, startNats, useNats } from '../../../../support/engines/nats.js';
import { soon, until } from '../../../../support/until.js';

describeWithNats('the bus on NATS', () => {
  const nat = useNats();
  const clusters: Cluster[] = [];
  afterEach(async () => {
    await Promise.all(clusters.splice(0).map((cluster) => cluster.close()));
  });

  function open(options: Parameters<typeof nats>[0] = {}): Cluster {
    const cluster = nats({ url: nat.engine.url, ...options });
    clusters.push(cluster);
    return cluster;
  }

  const contract = busContract({
    open: (): Bus => open().bus,
    openAnother: (): Bus => open().bus,
    interrupt: () => nat.engine.restart(),
  });
  for (const { name, run } of contract) test(name, run);

  test('A message that is published right after the report of a gap arrives, in ten restarts of the server', async () => {
    const [sender, receiver] = [open(), open()];
    const received: number[] = [];
    let gaps = 0;
    await receiver.bus.subscribe('t', {
      message: ({ n }) => received.push(n as number),
      gap: () => {
        gaps++;
      },
    });
    for (let n = 1; n <= 10; n++) {
      await nat.engine.restart();
      await until('the gap was reported', () => gaps === n);
      await sender.bus.publish('t', { n });
      await until(`message ${n} arrived`, () => received.includes(n));
    }
  });

  test('A message is rejected in bounded time while the server is gone, and the bus recovers by itself', async () => {
    const { bus } = open({ timeoutMs: 500 });
    const received: unknown[] = [];
    await bus.subscribe('t', { message: (message) => received.push(message), gap: () => undefined });
    await nat.engine.kill();
    await expect(soon('The rejection', bus.publish('t', { n: 1 }))).rejects.toThrow(
      /^The message to the topic "t" was not sent: .*NATS at 127\.0\.0\.1:\d+\)\.$/,
    );
    await nat.engine.start();
    await until('the bus works again', () =>
      bus.publish('t', { n: 2 }).then(
        () => received.length > 0,
        () => false,
      ),
    );
    expect(received[0]).toEqual({ n: 2 });
  });

  test('A stopped server is noticed, and a gap is reported after it continues', async () => {
    const { bus } = open({ timeoutMs: 1000 });
    let gaps = 0;
    await bus.subscribe('t', {
      message: () => undefined,
      gap: () => {
        gaps++;
      },
    });
    await nat.engine.pause();
    try {
      await expect(soon('a rejection', bus.publish('t', { n: 1 }))).rejects.toThrow('was not sent');
      await expect(soon('a rejection', bus.subscribe('u', { message() {}, gap() {} }))).rejects.toThrow(
        'The topic "u" was not subscribed to',
      );
    } finally {
      nat.engine.resume();
    }
    await until('the bus works again', () =>
      bus.publish('t', { n: 2 }).then(
        () => true,
        () => false,
      ),
    );
    // If the server continued before the connection counted as lost, nothing was missed.
    expect(gaps).toBeLessThanOrEqual(1);
  });

  test('Hostile names of topics are kept apart', async () => {
    const { bus } = open();
    const names = [
      'a.b',
      'a.*',
      'a.>',
      '>',
      '*',
      '',
      ' ',
      'a b',
      'A',
      'a',
      '=',
      '=2e',
      '$SYS',
      'é',
      'x'.repeat(512),
    ];
    const received = new Map<string, unknown[]>(names.map((name) => [name, []]));
    for (const name of names)
      await bus.subscribe(name, {
        message: ({ from }) => received.get(name)?.push(from),
        gap: () => undefined,
      });
    for (const name of names) await bus.publish(name, { from: name });
    for (const name of names) {
      await until(
        `the message of ${JSON.stringify(name)} arrived`,
        () => (received.get(name)?.length ?? 0) > 0,
      );
      expect(received.get(name)).toEqual([name]);
    }
    await expect(bus.publish('line\nbreak', {})).rejects.toThrow(RangeError);
  });

  test('A message larger than the server accepts is a RangeError that names the limit', async () => {
    await expect(open().bus.publish('t', { text: 'x'.repeat(1_100_000) })).rejects.toThrow(
      /^A message of 11\d+ bytes is too large for the bus: NATS accepts 1048576 \(max_payload\)\.$/,
    );
  });

  test('Anything else on the subject is skipped', async () => {
    const { bus } = open();
    const received: unknown[] = [];
    await bus.subscribe('t', { message: (message) => received.push(message), gap: () => undefined });
    const { connectRaw } = await import('../../../../support/engines/nats-raw.js');
    const raw = await connectRaw(nat.engine.url);
    for (const payload of ['', 'not JSON', '[1]', 'null', '{"a":']) raw.publish('fullmcp.bus.t', payload);
    raw.publish('fullmcp.bus.t', '{"ok":true}');
    await until('the message arrived', () => received.length > 0);
    expect(received).toEqual([{ ok: true }]);
    await raw.close();
  });

  test('A listener that throws does not keep others from their messages, now or later', async () => {
    const { bus } = open();
    const received: unknown[] = [];
    const uncaught: unknown[] = [];
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => uncaught.push(error));
    try {
      await bus.subscribe('t', {
        message: () => {
          throw new Error('a bug');
        },
        gap: () => undefined,
      });
      await bus.subscribe('t', { message: ({ n }) => received.push(n), gap: () => undefined });
      for (let n = 0; n < 3; n++) await bus.publish('t', { n });
      await until('all messages arrived', () => received.length === 3 && uncaught.length === 3);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of before) process.on('uncaughtException', listener);
    }
    expect(String(uncaught[0])).toBe('Error: a bug');
  });

  test('A subscription that the user may not make is rejected with the reason', async () => {
    const engine = await startNats({
      config:
        'authorization { users: [{ user: a, password: secret, permissions: { subscribe: ["_INBOX.>"], publish: [">"] } }] }',
    });
    const cluster = nats({ url: engine.url.replace('//', '//a:secret@') });
    try {
      const error: unknown = await cluster.bus
        .subscribe('t', { message: () => undefined, gap: () => undefined })
        .catch((reason: unknown) => reason);
      expect(String(error)).toMatch(/The topic "t" was not subscribed to: .*Permissions Violation/i);
      expect(String(error)).not.toContain('secret');
    } finally {
      await cluster.close();
      await engine.stop();
    }
  });
});
