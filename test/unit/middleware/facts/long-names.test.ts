import v8 from 'node:v8';
import vm from 'node:vm';
import { type CircuitBreakerOptions, circuitBreaker, concurrency, rateLimit } from 'fullmcp/middleware';
import { describe, expect, it } from 'vitest';
import { groupNamer } from '../../../../src/middleware/facts/call-groups.js';
import type { Call, Middleware, Outcome } from '../../../../src/protocol/call.js';
import { boundedKey, shorten } from '../../../../src/protocol/encoding/shorten.js';

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

const CALLS = 40;
const CHARS = 500_000;

/** A name that no other has, in memory of its own. */
const longName = (at: number): string => JSON.parse(JSON.stringify(`${'x'.repeat(CHARS)}${at}`)) as string;

function callOf(name: string): Call {
  return {
    id: 1,
    method: 'tools/call',
    params: { name },
    peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
    signal: new AbortController().signal,
    notify: () => undefined,
  };
}

/** The bytes that are still in memory after some work. */
async function keptBytes(work: (at: number) => unknown): Promise<number> {
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < CALLS; at++) await work(at);
  collect();
  return process.memoryUsage().heapUsed - before;
}

const failing: CircuitBreakerOptions = { by: 'tool' };
const own = (call: Call): string => String(call.params['name']);
const kinds: readonly (readonly [string, Middleware])[] = [
  ['rateLimit by tool', rateLimit({ tools: '100/day', by: 'tool' })],
  ['rateLimit by a function', rateLimit({ tools: '100/day', by: own })],
  ['concurrency by tool', concurrency({ limit: 1, by: 'tool' })],
  ['circuitBreaker by tool', circuitBreaker(failing)],
];

describe('the long names that a peer sends', () => {
  it.each(kinds)('are not kept whole by %s', async (_, middleware) => {
    const kept = await keptBytes((at) =>
      middleware(callOf(longName(at)), () => Promise.reject(new Error('failed'))).catch(() => undefined),
    );
    expect(kept).toBeLessThan((CALLS * CHARS) / 4);
  });

  it('are not kept in memory by the short form of a message', async () => {
    const kept: string[] = [];
    const bytes = await keptBytes((at) => kept.push(shorten(longName(at), 100)));
    expect(kept.every(({ length }) => length === 100)).toBe(true);
    expect(bytes).toBeLessThan((CALLS * CHARS) / 4);
  });

  it('make keys of a few hundred characters, which differ if the names do', () => {
    const keys = new Set(Array.from({ length: 10 }, (_, at) => boundedKey(longName(at))));
    expect(keys.size).toBe(10);
    for (const key of keys) expect(key.length).toBeLessThanOrEqual(256);
    expect(boundedKey(longName(1))).toBe(boundedKey(longName(1)));
    for (const chars of [1, 255, 256, 257, 300, 2000])
      expect(boundedKey('x'.repeat(chars)).length).toBeLessThanOrEqual(256);
    for (const name of ['add', 'x'.repeat(256)]) expect(boundedKey(name)).toBe(name);
  });

  it('are counted together with themselves alone', async () => {
    const limit = rateLimit({ tools: '1/day', by: 'tool' });
    const call = (at: number) => limit(callOf(longName(at)), async () => ({ resultType: 'complete' }));
    await call(1);
    await call(2);
    await expect(call(1)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('are short in the groups of every middleware', () => {
    expect(groupNamer('tool')(callOf(longName(1)))?.length).toBeLessThanOrEqual(256);
  });
});

describe('callers whose long names begin with the same characters', () => {
  const start = 'x'.repeat(300);
  const calling = (subject: string, issuer?: string): Call => ({
    ...callOf('pay'),
    auth: { subject, ...(issuer !== undefined && { issuer }), scopes: [], claims: {} },
  });
  const pairs: readonly (readonly [string, string, string])[] = [
    ['differ at the end', `${start}a`, `${start}b`],
    // Found by a search of some seconds: the simple hash and the length of both are the same.
    ['were chosen for their hash', `${start}\u8420\u8394\u4e00`, `${start}\u6900\u5d80\u8804`],
    ['differ in half a character', `${start}\ud800`, `${start}\ud801`],
  ];

  it.each(pairs)('have a limit each if they %s', async (_, ann, eve) => {
    const limited = rateLimit({ tools: '1/day', by: 'caller' });
    const done = async (): Promise<Outcome> => ({ resultType: 'complete' });
    for (const caller of [calling(ann), calling(eve)])
      await expect(limited(caller, done)).resolves.toEqual({ resultType: 'complete' });
    await expect(limited(calling(ann), done)).rejects.toMatchObject({ code: 'overloaded' });
    const own = groupNamer(({ auth }) => auth?.subject);
    expect(own(calling(ann))).not.toBe(own(calling(eve)));
  });

  it('have keys of a few hundred characters, even if each of their characters is escaped', () => {
    const name = groupNamer('caller');
    const longest = '\u0000'.repeat(1024);
    const key = name(calling(longest, longest)) as string;
    expect(key.length).toBeLessThan(300);
    expect(name(calling(`${longest.slice(1)}\u0001`, longest))).not.toBe(key);
  });
});
