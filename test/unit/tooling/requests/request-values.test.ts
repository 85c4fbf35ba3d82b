import { describe, expect, it } from 'vitest';
import { unmet } from '../../../../src/tooling/requests/expectations.js';
import { RequestValues } from '../../../../src/tooling/requests/request-values.js';

const variable = (name: string): string => `$\u007b${name}}`;
const values = (env: Record<string, string>): RequestValues =>
  new RequestValues({ env: Object.keys(env) }, env);
/** A value after it was written to the file and read again. */
const again = (known: RequestValues, value: unknown): unknown => known.expand(known.written(value), 'it');

describe('the values of variables', () => {
  it('are hidden in any place and in any form that a server repeats', () => {
    const known = values({ KEY: 'a b/c"d' });
    for (const form of ['a b/c"d', 'a+b%2Fc%22d', 'a%20b%2Fc%22d', 'a b/c\\"d'])
      expect(known.shown(`x${form}y`)).toBe(`x${variable('KEY')}y`);
    expect(known.shown({ 'a b/c"d': ['a b/c"d'] })).toEqual({ [variable('KEY')]: [variable('KEY')] });
  });

  it('are hidden as a word of their own if they are short', () => {
    const known = values({ PIN: '12', ID: 'é' });
    expect(known.shown('12 is in 1234, (12) and é, but not in café')).toBe(
      `${variable('PIN')} is in 1234, (${variable('PIN')}) and ${variable('ID')}, but not in café`,
    );
    expect(known.shown(['12', 12])).toEqual([variable('PIN'), 12]);
    expect(known.plain({ description: 'at most 12 items', maxLength: 12 })).toEqual({
      description: 'at most 12 items',
      maxLength: 12,
    });
  });

  it('are hidden as numbers, too, and then nothing is expected of them', () => {
    const known = values({ PIN: '47110815' });
    expect(known.shown({ pins: [47_110_815, 1] })).toEqual({ pins: [variable('PIN'), 1] });
    expect(known.written({ pins: [47_110_815, 1] })).toEqual({ pins: ['***', 1] });
  });

  it('do not hide the names that take their places', () => {
    const known = values({ SHOP_KEY: 'open-sesame', NAME: 'SHOP_KEY', KEY: 'KEY' });
    expect(known.shown('open-sesame, KEY and SHOP_KEY')).toBe(
      `${variable('SHOP_KEY')}, ${variable('KEY')} and ${variable('NAME')}`,
    );
    expect(again(known, 'open-sesame, KEY and SHOP_KEY')).toBe('open-sesame, KEY and SHOP_KEY');
  });

  it.each([
    'open-sesame',
    'costs $5, $$ or $',
    `the text ${variable('KEY')} itself`,
    `$${variable('KEY')}`,
    { [variable('KEY')]: 'a name', 'open-sesame': ['12', 'of 12'] },
  ])('are the same after they were written and read again: %j', (value) => {
    const known = values({ KEY: 'open-sesame', PIN: '12' });
    expect(JSON.stringify(known.written(value))).not.toContain('sesame');
    expect(again(known, value)).toEqual(value);
  });

  it.each(['$open-sesame', 'open-sesame+x', 'Bearer tok-en-123456'])(
    'are anything if the variable would not give the same text again: %j',
    (text) => {
      const known = values({ KEY: 'open-sesame', OTHER: 'Basic tok-en-123456', ODD: 'open-sesame x' });
      const written = known.written(text);
      expect(written === '***' || known.expand(written, 'it') === text).toBe(true);
      expect(written).not.toContain('sesame');
      expect(written).not.toContain('tok-en');
    },
  );
});

describe('a schema that is expected', () => {
  const problems = (matches: Record<string, unknown>, text: string): number =>
    unmet({ matches }, { ok: true, value: text, text }, values({})).length;

  it('describes text as it is, also if the text could be read as JSON', () => {
    expect(problems({ pattern: '^4' }, '42')).toBe(0);
    expect(problems({ pattern: '^4' }, '17')).toBe(1);
    expect(problems({ type: ['string', 'null'] }, '42')).toBe(0);
    expect(problems({ maxLength: 1 }, '[]')).toBe(1);
  });

  it('describes JSON inside of text otherwise', () => {
    expect(problems({ type: 'number' }, '42')).toBe(0);
    expect(problems({ properties: { a: { type: 'string' } } }, '{"a":1}')).toBe(1);
  });
});
