import { afterEach, describe, expect, test, vi } from 'vitest';
import { BusyHosts } from '../../../../../src/extensions/events/webhooks/hosts.js';

const never = new AbortController().signal;
const MAX_PER_HOST = 32;
const MAX_WAITING = 512;

/** Hosts of which one has as many deliveries as it may have. */
function busy() {
  const hosts = new BusyHosts();
  const ends = Array.from({ length: MAX_PER_HOST }, () => hosts.enter('slow') as () => void);
  return { hosts, ends };
}

afterEach(() => void vi.useRealTimers());

describe('A delivery to a host that has enough of them', () => {
  test('begins when another one has ended, the first one first, and no other host waits', async () => {
    const { hosts, ends } = busy();
    expect(hosts.enter('slow')).toBeUndefined();
    const begun: number[] = [];
    const waiting = [0, 1, 2].map(async (n) => {
      const end = await hosts.wait('slow', never);
      begun.push(n);
      return end;
    });
    expect(hosts.enter('other')).toBeTypeOf('function');
    ends[0]?.();
    const first = await waiting[0];
    expect(begun).toEqual([0]);
    // Its place is taken.
    expect(hosts.enter('slow')).toBeUndefined();
    first?.();
    ends[1]?.();
    for (const end of await Promise.all(waiting)) expect(end).toBeTypeOf('function');
    expect(begun).toEqual([0, 1, 2]);
    for (const end of [...ends.slice(2), await waiting[1], await waiting[2]]) end?.();
    expect(busyAgain(hosts)).toBe(MAX_PER_HOST);
  });

  test('does not wait for long, nor after its lease was lost', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { hosts, ends } = busy();
    const lost = new AbortController();
    const [one, other] = [hosts.wait('slow', never), hosts.wait('slow', lost.signal)];
    lost.abort();
    expect(await other).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5000);
    expect(await one).toBeUndefined();
    // Nobody waits any more, so that a place is free again.
    ends[0]?.();
    expect(hosts.enter('slow')).toBeTypeOf('function');
  });

  test('does not wait if too many others do', async () => {
    const { hosts, ends } = busy();
    const waiting = Array.from({ length: MAX_WAITING }, () => hosts.wait('slow', never));
    expect(await hosts.wait('slow', never)).toBeUndefined();
    for (const end of ends) end();
    for (const each of waiting) (await each)?.();
    expect(busyAgain(hosts)).toBe(MAX_PER_HOST);
  });
});

/** The number of deliveries that a host takes now. */
function busyAgain(hosts: BusyHosts): number {
  let count = 0;
  while (hosts.enter('slow') !== undefined) count++;
  return count;
}
