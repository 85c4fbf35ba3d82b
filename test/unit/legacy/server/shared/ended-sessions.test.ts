import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { EndedSessions } from '../../../../../src/legacy/server/shared/ended-sessions.js';

const span = (issuedAt: number, expiresAt = Number.MAX_SAFE_INTEGER) => ({ issuedAt, expiresAt });

describe('ended sessions', () => {
  test('are remembered, however many there are and in whatever order they end', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 200 }), (times) => {
        const ended = new EndedSessions(10);
        for (const [at, issuedAt] of times.entries()) {
          ended.add(`p.${at}`, span(issuedAt));
          for (let earlier = 0; earlier <= at; earlier++)
            expect(ended.has(`p.${earlier}`, span(times[earlier] as number))).toBe(true);
        }
      }),
    );
  });

  test('beyond the limit also end sessions as old as the forgotten ones, but not younger ones', () => {
    const ended = new EndedSessions(10);
    for (let at = 0; at < 100; at++) ended.add(`p.${at}`, span(at));
    expect(ended.has('p.other', span(100))).toBe(false);
    expect(ended.has('p.other', span(0))).toBe(true);
  });

  test('make room once their ids have expired', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
    const ended = new EndedSessions(10);
    for (let at = 0; at < 10; at++) ended.add(`old.${at}`, span(at, 999));
    ended.add('p.young', span(500, 2000));
    expect(ended.has('p.other', span(100))).toBe(false);
    expect(ended.has('p.young', span(500))).toBe(true);
    vi.useRealTimers();
  });
});
