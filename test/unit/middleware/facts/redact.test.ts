import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactor } from '../../../../src/middleware/facts/redact.js';
import { secretNames } from '../../../../src/protocol/secrets/is-secret-name.js';
import { REDACTED } from '../../../../src/protocol/secrets/text.js';
import { growth } from '../../../support/growth.js';

const redact = redactor();

describe('redactor', () => {
  it('replaces secrets at every depth and keeps everything else', () => {
    const value = {
      user: 'ada',
      login: { password: 'hunter2', remember: true, nothing: null },
      sessions: [{ token: { deep: ['x'] } }, { age: 3 }],
      password: null,
    };
    expect(redact(value)).toEqual({
      user: 'ada',
      login: { password: REDACTED, remember: true, nothing: null },
      sessions: [{ token: REDACTED }, { age: 3 }],
      password: null,
    });
    expect(value.login.password).toBe('hunter2');
  });

  it('replaces the value of a header or variable with the name of a secret', () => {
    expect(
      redact([
        { name: 'Authorization', value: 'x' },
        { key: 'API_KEY', value: { a: 1 } },
        { name: 'Accept', value: 'y' },
      ]),
    ).toEqual([
      { name: 'Authorization', value: REDACTED },
      { key: 'API_KEY', value: REDACTED },
      { name: 'Accept', value: 'y' },
    ]);
  });

  it('replaces bearer tokens and passwords in URIs wherever they are', () => {
    expect(
      redact(['Bearer abc.def', 'bearer of news', 'postgres://ada:pw@db/x', 'see http://a:b@c']),
    ).toEqual([REDACTED, 'bearer of news', `postgres://ada:${REDACTED}@db/x`, `see http://a:${REDACTED}@c`]);
  });

  it('replaces the names and paths of the options', () => {
    const own = redactor({ redact: ['iban', 'card.number', 'items.*.code', ['a.b', 'c'], 'list.1'] });
    expect(
      own({
        IBAN: 'DE1',
        number: 1,
        card: { number: 4242, holder: 'ada', card: { number: 5 } },
        items: [{ code: 'x', n: 1 }, { code: 'y' }],
        'a.b': { c: 1, d: 2 },
        list: ['a', 'b', 'c'],
        a: { b: { c: 3 } },
      }),
    ).toEqual({
      IBAN: REDACTED,
      number: 1,
      card: { number: REDACTED, holder: 'ada', card: { number: 5 } },
      items: [{ code: REDACTED, n: 1 }, { code: REDACTED }],
      'a.b': { c: REDACTED, d: 2 },
      list: ['a', REDACTED, 'c'],
      a: { b: { c: 3 } },
    });
  });

  it('cuts long strings, deep values and large ones', () => {
    const small = redactor({ maxString: 5, maxDepth: 2, maxChars: 100 });
    expect(small('123456789')).toBe('12345… (9 characters)');
    expect(small({ a: { b: { c: 1 } } })).toEqual({ a: { b: '[…]' } });
    const list = small(Array.from({ length: 1_000_000 }, () => 1)) as unknown[];
    expect(list.length).toBeLessThan(30);
    expect(list.at(-1)).toBe('[…]');
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`field${n}`, n]));
    expect(Object.keys(small(fields) as object).at(-1)).toBe('[…]');
    const cyclic: Record<string, unknown> = {};
    cyclic['a'] = [cyclic, cyclic, cyclic];
    expect(JSON.stringify(redact(cyclic)).length).toBeLessThan(40_000);
  });

  it('copies values that JSON does not have', () => {
    expect(
      redact({
        at: new Date(0),
        big: 5n,
        bytes: new Uint8Array(3),
        none: undefined,
        f() {},
        nan: Number.NaN,
        l: [undefined],
      }),
    ).toEqual({ at: '1970-01-01T00:00:00.000Z', big: '5', bytes: '[3 bytes]', l: [null] });
  });

  it('keeps a field named __proto__ as a field', () => {
    const value = JSON.parse('{"__proto__":{"token":"x","a":1},"b":2}');
    expect(JSON.stringify(redact(value))).toBe(`{"__proto__":{"token":"${REDACTED}","a":1},"b":2}`);
  });

  it('never shows a secret, and shows everything else of a small value', () => {
    const names = fc.constantFrom(
      'a',
      'token',
      'user_password',
      'Authorization',
      '__proto__',
      'x-api-key',
      'b',
    );
    const tree = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 4 }, fc.constant('PLAIN'), fc.array(tie('node')), tie('object')),
      object: fc
        .array(fc.tuple(names, tie('node')))
        .map((pairs) =>
          JSON.parse(`{${pairs.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`)}}`),
        ),
    })).object;
    const isSecret = secretNames();
    const expected = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(expected);
      if (typeof value !== 'object' || value === null) return value;
      const fields = Object.entries(value).map(
        ([name, inner]) =>
          `${JSON.stringify(name)}:${JSON.stringify(isSecret(name) ? REDACTED : expected(inner))}`,
      );
      return JSON.parse(`{${fields}}`);
    };
    const wide = redactor({ maxChars: 1e9, maxDepth: 100 });
    fc.assert(
      fc.property(tree, (value) => {
        expect(JSON.stringify(wide(value))).toBe(JSON.stringify(expected(value)));
      }),
    );
  });
});

describe('strings', () => {
  it('have no secrets in their JSON, at any depth, and stay as they are without any', () => {
    const text = JSON.stringify({
      password: 'hunter2',
      inner: JSON.stringify([{ tokens: ['hunter2'], n: 1 }]),
    });
    expect(redact({ content: [{ text: ` ${text}` }] })).toEqual({
      content: [{ text: '{"password":"[redacted]","inner":"[{\\"tokens\\":\\"[redacted]\\",\\"n\\":1}]"}' }],
    });
    for (const same of ['{ "n": 1 }', '[1, 2', '[INFO] started', '{}']) expect(redact(same)).toBe(same);
    expect(redact(`[${'"x",'.repeat(50_000)}"x"]`)).toBe('[200005 characters, probably of JSON]');
  });

  it.each([
    'Authorization: Bearer hunter2.hunter2.hunter2',
    'sent bearer  hunter2hunter2hunter2 to the server',
    'see https://a.example/?x=1&access_token=hunter2&y=2',
    'PASSWORD=hunter2 next',
    '{"password": "hunter2 hunter2", broken',
    String.raw`{"password": "x\"hunter2", broken`,
    "api-key: 'hunter2 hunter2'",
    String.raw`{\"password\":\"hunter2\"} {\"a\":1}`,
    '{"a":1}\n{"dbPassword":"hunter2"}',
    'my_iban = hunter2',
  ])('have nothing after a name in %j', (text) => {
    expect(JSON.stringify(redactor({ redact: ['iban'] })(text))).not.toContain('hunter2');
  });

  it.each(['Bearer of bad news', 'a basic understanding', 'tokens are cheap: 3 cents', 'x=1', 'a: b'])(
    'keep %j',
    (text) => {
      expect(redact(text)).toBe(text);
    },
  );

  it('are read in a time that grows with their length alone', () => {
    const wide = redactor({ maxString: 1e7, maxChars: 1e7 });
    for (const part of ['password', 'token -', 'bearer ', 'secret :', 'api_', '"token":"\\\\'])
      expect(growth(wide, part.repeat(2000), part.repeat(20_000)), part).toBeLessThan(40);
  });
});
