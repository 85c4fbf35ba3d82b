import { describe, expect, it } from 'vitest';
import { hasEnded, Lifetime, withSignal } from '../../../src/async/lifetime.js';
import type { Call } from '../../../src/protocol/call.js';
import { copyCall } from '../../../src/protocol/direct.js';

class CountingLifetime extends Lifetime {
  created = 0;

  override get signal(): AbortSignal {
    this.created++;
    return super.signal;
  }
}

const call = (lifetime: Lifetime, more: object = {}): Call =>
  withSignal(
    {
      id: 1,
      method: 'tools/call',
      params: { name: 'add' },
      peer: { revision: '2026-07-28' as const, client: undefined, capabilities: {}, logLevel: undefined },
      notify: () => undefined,
      ...more,
    },
    lifetime,
  );

describe('copyCall', () => {
  it('does not create the signal, which ends with the call', () => {
    const lifetime = new CountingLifetime();
    const copy = copyCall(call(lifetime), { method: 'tools/list' });
    expect([lifetime.created, hasEnded(copy)]).toEqual([0, false]);
    lifetime.end('over');
    expect([lifetime.created, hasEnded(copy), copy.signal.reason]).toEqual([0, true, 'over']);
  });

  it('copies all members, and those that it does not know', () => {
    const original = call(new Lifetime(), { isLocal: true, later: 'new' });
    const copy = copyCall(original, { params: {} });
    expect(copy).toMatchObject({ id: 1, method: 'tools/call', isLocal: true, later: 'new', params: {} });
    expect(copy.notify).toBe(original.notify);
  });
});
