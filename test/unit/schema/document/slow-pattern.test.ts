import { createServer, inProcess, prompt, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { isSlowPattern } from '../../../../src/schema/document/slow-pattern.js';
import { growth } from '../../../support/growth.js';

describe('a pattern that can take exponential time', () => {
  it.each([
    '^(a+)+$',
    '^(a*)*$',
    '(?:a+)+b',
    '^((a+))+$',
    '^((ab)+)+$',
    '^(\\w+\\s?)*$',
    '^([a-z]+)*$',
    '^(.*,)+$',
    '^(\\d+[a-z0-9])*$',
    '^(a|a)*$',
    '^(.|\\s)*$',
    '^(\\w|\\d)+$',
    '^(a+){20,}$',
    '^(?<name>x*)+$',
    '^(?=(a+)+$)a',
    '^(\\p{L}+)+$',
    '^(a+|b)+$',
    '^([^,]+)*$',
    '^(a{2,})+$',
  ])('is found: %s', (pattern) => {
    expect(isSlowPattern(pattern)).toBe(true);
  });

  it.each(
    [
      '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      '^(\\d+\\.)+\\d+$',
      '^(?:[a-z]+\\s)*$',
      '^(.|\\n)*$',
      '^(?:\\d{1,3}\\.){3}\\d{1,3}$',
      '^a+b+c+$',
      '^(a+)?$',
      '^(a+){1,3}$',
      '^(ab|cd)*$',
      '^([a-z][a-z0-9-]*\\.)+[a-z]{2,}$',
      '^(?:[A-Z][a-z]+ ?){1,5}$',
      '^\\(\\+\\)\\+$',
      '^[(a+)+]+$',
      '^(?:"[^"]*",)*$',
      '^(\\u0041\\u{1F600}\\x41\\cA)*$',
      '',
      '^$',
      `(${'a'.repeat(5000)}+)+`,
    ].map((pattern) => [pattern.slice(0, 60), pattern]),
  )('is not found in a harmless one: %s', (_start, pattern) => {
    expect(isSlowPattern(pattern)).toBe(false);
  });

  it('is not found in the formats of zod', () => {
    const formats = [
      z.email(),
      z.uuid(),
      z.cuid2(),
      z.ulid(),
      z.nanoid(),
      z.ipv4(),
      z.ipv6(),
      z.cidrv4(),
      z.base64(),
      z.base64url(),
      z.e164(),
      z.iso.date(),
      z.iso.time(),
      z.iso.datetime(),
      z.iso.duration(),
      z.hostname(),
      z.jwt(),
      z.emoji(),
    ];
    for (const format of formats) {
      const { pattern } = z.toJSONSchema(format, { unrepresentable: 'any' });
      if (pattern !== undefined) expect([pattern, isSlowPattern(pattern)]).toEqual([pattern, false]);
    }
  });

  it('is searched for in reasonable time', () => {
    const nested = (depth: number) => `${'('.repeat(depth)}a${'+)'.repeat(depth)}`;
    const wide = (count: number) => '(a|b|c|d)*'.repeat(count);
    const long = (count: number) => '[a-z]+'.repeat(count);
    // A search with backtracking would never end.
    for (const pattern of [nested, wide, long])
      expect(growth(isSlowPattern, pattern(20), pattern(200))).toBeLessThan(400);
  });

  it('causes a warning at definition, with the tool and the place', () => {
    const log = vi.fn();
    const slow = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } as const;
    createServer({
      name: 'x',
      version: '1',
      logger: log,
      tools: {
        plain: tool({ input: slow, run: () => 1 }),
        zod: tool({ input: z.object({ b: z.string().regex(/^(b+)+$/) }), run: () => 1 }),
        fine: tool({ input: z.object({ c: z.email() }), run: () => 1 }),
      },
      prompts: { p: prompt({ args: z.object({ d: z.string().regex(/^(d*)*$/) }), run: () => 'x' }) },
      methods: { 'acme/m': { params: slow, run: () => ({}) } },
    });
    expect(log.mock.calls.map(([level, message]) => `${level} ${message}`)).toEqual([
      expect.stringContaining(
        'warning tool "plain": the pattern "^(a+)+$" at #/properties/a/pattern can take exponential time',
      ),
      expect.stringContaining('warning tool "zod": the pattern "^(b+)+$" at #/properties/b/pattern'),
      expect.stringContaining('warning prompt "p": the pattern "^(d*)*$"'),
      expect.stringContaining('warning method "acme/m": the pattern "^(a+)+$"'),
    ]);
  });
});

describe('a value that does not match a slow pattern', () => {
  it.each<[string, Parameters<typeof tool>[0]['input']]>([
    ['JSON Schema', { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }],
    ['zod', z.object({ a: z.string().regex(/^(a+)+$/) }) as never],
  ])('is tested once, by %s', async (_, input) => {
    const server = createServer({
      name: 'x',
      version: '1',
      logger: () => undefined,
      tools: { it: tool({ input, run: () => 1 }) },
    });
    let tests = 0;
    const test = RegExp.prototype.test;
    const spy = vi.spyOn(RegExp.prototype, 'test').mockImplementation(function (this: RegExp, text) {
      if (this.source === '^(a+)+$') tests++;
      return test.call(this, text);
    });
    try {
      const outcome = await inProcess(server)('tools/call', { name: 'it', arguments: { a: 'aab' } });
      expect(outcome).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('pattern') }],
      });
    } finally {
      spy.mockRestore();
    }
    expect(tests).toBe(1);
  });
});
