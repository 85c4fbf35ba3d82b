import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  checkOptions,
  fillDefaults,
  type OptionTable,
  optionMistakes,
  readOptions,
} from '../../../../src/protocol/checks/options.js';

const table = {
  any: 'any',
  flag: 'boolean',
  count: 'count',
  few: { is: 'count', min: 0, max: 9 },
  number: 'number',
  share: { is: 'number', min: 0.1, max: 1 },
  ms: 'ms',
  timer: 'timer',
  text: 'string',
  names: 'strings',
  run: 'function',
  object: 'object',
  list: 'array',
  mode: { oneOf: ['on', 'off'] },
  limit: { is: ['function', 'count'], oneOf: ['auto'] },
} as const;

const wrong: readonly (readonly [keyof typeof table, readonly unknown[], string])[] = [
  ['flag', [1, 'true', null], 'a boolean'],
  ['count', [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null], 'an integer, 1 or more'],
  ['few', [-1, 10, 0.5, '1'], 'an integer from 0 to 9'],
  ['number', [-1, Number.NaN, '5'], 'a number, 0 or more'],
  ['share', [0, 2, Number.NaN], 'a number from 0.1 to 1'],
  ['ms', [-1, Number.NaN, '1s'], 'a number of milliseconds, 0 or more'],
  ['timer', [-1, Number.NaN, '1s'], 'a number of milliseconds, 0 or more'],
  ['text', [1, null, ['a']], 'a string'],
  ['names', ['a', [1], null], 'an array of strings'],
  ['run', ['x', {}, null], 'a function'],
  ['object', ['x', [], null, () => 1], 'an object'],
  ['list', ['x', {}, null], 'an array'],
  ['mode', ['auto', true, null], '"on" or "off"'],
  ['limit', ['none', 0, null], '"auto", a function or an integer, 1 or more'],
];

const right: Readonly<Record<keyof typeof table, readonly unknown[]>> = {
  any: [null, 0, 'x'],
  flag: [true, false],
  count: [1, 2 ** 40],
  few: [0, 9],
  number: [0, 0.5, Number.POSITIVE_INFINITY],
  share: [0.1, 1],
  ms: [0, 0.5, Number.POSITIVE_INFINITY],
  timer: [0, 5],
  text: ['', 'x'],
  names: [[], ['a']],
  run: [() => 1],
  object: [{}, new Map()],
  list: [[], [1]],
  mode: ['on', 'off'],
  limit: ['auto', 1, () => 1],
};

test.each(wrong)(
  'The kind of the option "%s" refuses other values with one sentence',
  (name, values, what) => {
    for (const value of values) {
      const check = (): unknown => checkOptions('make', { [name]: value }, table);
      expect(check, String(value)).toThrow(TypeError);
      expect(check, String(value)).toThrow(`make: "${name}" must be ${what}, not `);
    }
  },
);

test.each(Object.entries(right))(
  'The kind of the option "%s" accepts its values, and undefined',
  (name, values) => {
    for (const value of [...values, undefined])
      expect(optionMistakes('make', { [name]: value }, table), String(value)).toEqual([]);
  },
);

describe('a mistake', () => {
  test('names every unknown option and every wrong one at once', () => {
    expect(optionMistakes('make', { flags: true, count: 0, tex: 'x' }, table)).toEqual([
      'make has no option "flags". Did you mean "flag"?',
      'make has no option "tex". Did you mean "text"?',
      'make: "count" must be an integer, 1 or more, not 0.',
    ]);
  });

  test('gives the name of another library for an option, or what to do instead', () => {
    const foreign = { maximum: 'count', verbose: 'Set MCP_LOG_LEVEL.' };
    expect(optionMistakes('make', { maximum: 1, verbose: true }, table, { foreign })).toEqual([
      'make has no option "maximum". Did you mean "count"?',
      'make has no option "verbose". Set MCP_LOG_LEVEL.',
    ]);
  });

  test('in an object of options has the path of the option', () => {
    const nested = { events: { is: 'object', options: { maxAgeMs: 'count' } } } as const;
    expect(optionMistakes('make', { events: { maxAge: 1, maxAgeMs: 0 } }, nested)).toEqual([
      'make has no option "events.maxAge". Did you mean "maxAgeMs"?',
      'make: "events.maxAgeMs" must be an integer, 1 or more, not 0.',
    ]);
    expect(optionMistakes('make', { events: 'all' }, nested)).toEqual([
      'make: "events" must be an object, not a string.',
    ]);
  });

  test('shows a number, and a string only where a secret cannot be', () => {
    const [text, count, mode] = optionMistakes(
      'make',
      { names: 'hunter2', count: 'hunter2', mode: 'x'.repeat(100) },
      { names: 'strings', count: 'count', mode: { oneOf: ['on'] } },
    );
    expect(text).toBe('make: "names" must be an array of strings, not a string.');
    expect(count).toBe('make: "count" must be an integer, 1 or more, not "hunter2".');
    expect(mode).toBe(`make: "mode" must be "on", not "${'x'.repeat(40)}".`);
  });

  test('of options that are not an object is one sentence', () => {
    for (const [options, what] of [
      [undefined, 'undefined'],
      [null, 'null'],
      [5, '5'],
      ['fast', 'a string'],
      [[], 'an array'],
      [() => 1, 'a function'],
    ])
      expect(() => checkOptions('make', options, table)).toThrow(
        `make: the options must be an object, not ${what}.`,
      );
  });

  test('of a definition that is not an object begins with its subject', () => {
    expect(optionMistakes('', [], table)).toEqual(['the options must be an object, not an array.']);
  });

  test('in a definition, which has no function, begins with the name of the option', () => {
    expect(optionMistakes('', { flags: true, count: 0 }, table)).toEqual([
      '"flags" is unknown. Did you mean "flag"?',
      '"count" must be an integer, 1 or more, not 0.',
    ]);
  });

  test('is reported for a required option that is missing', () => {
    expect(optionMistakes('make', {}, { run: { is: 'function', required: true } })).toEqual([
      'make: "run" must be a function, not undefined.',
    ]);
    expect(optionMistakes('make', {}, { value: { is: 'any', required: true } })).toEqual([
      'make: "value" must be a value, not undefined.',
    ]);
  });
});

describe('options that were read', () => {
  interface MakeOptions {
    readonly limit?: number | undefined;
    readonly waitMs?: number;
    readonly events?: { readonly maxAgeMs?: number };
    readonly when?: () => boolean;
  }
  const makeTable = {
    limit: { is: 'count', default: 5 },
    waitMs: { is: 'timer', default: 100 },
    events: { is: 'object', options: { maxAgeMs: { is: 'count', default: 7 } }, default: {} },
    when: 'function',
  } as const satisfies OptionTable<MakeOptions>;

  test('have the defaults, also inside of objects, and not the options that are undefined', () => {
    const options: MakeOptions = { limit: undefined };
    const read = readOptions('make', options, makeTable);
    expect(read).toStrictEqual({ limit: 5, waitMs: 100, events: { maxAgeMs: 7 } });
    expectTypeOf(read.limit).toEqualTypeOf<number>();
    expectTypeOf(read.events.maxAgeMs).toEqualTypeOf<number>();
    expectTypeOf(read.when).toEqualTypeOf<(() => boolean) | undefined>();
    expect(options).toStrictEqual({ limit: undefined });
  });

  test('keep symbols and inherited options, and limit a timer to what a timer can wait', () => {
    const unsafe = Symbol('unsafe');
    const options = Object.assign(Object.create({ limit: 3 }), { waitMs: 2 ** 40, [unsafe]: true });
    const read = readOptions<MakeOptions, typeof makeTable>('make', options, makeTable);
    expect(read).toMatchObject({ limit: 3, waitMs: 2 ** 31 - 1, [unsafe]: true });
  });

  test('are read once, so that a getter cannot return another value after the check', () => {
    let reads = 0;
    const options: MakeOptions = {
      get limit() {
        reads++;
        return reads === 1 ? 3 : -1;
      },
    };
    const read = readOptions<MakeOptions, typeof makeTable>('make', options, makeTable);
    expect([read.limit, reads]).toEqual([3, 1]);
  });

  test('can have others beside them if only the defaults are filled in', () => {
    expect(
      fillDefaults<MakeOptions, typeof makeTable>({ limit: 1, other: 2 } as MakeOptions, makeTable),
    ).toMatchObject({
      limit: 1,
      other: 2,
      waitMs: 100,
    });
  });

  test('are held to their interface: an option that only one of the two has does not compile', () => {
    // @ts-expect-error: the table lacks `b`.
    const lacking = { a: 'count' } as const satisfies OptionTable<{ a?: number; b?: number }>;
    // @ts-expect-error: the interface lacks `b`.
    const surplus = { a: 'count', b: 'count' } as const satisfies OptionTable<{ a?: number }>;
    // @ts-expect-error: the kind refuses values that the interface allows.
    const narrow = { a: 'count' } as const satisfies OptionTable<{ a?: number | string }>;
    // @ts-expect-error: the table has an option that the interface lacks.
    readOptions('make', {} as { a?: number }, surplus);
    expect([lacking, narrow]).toHaveLength(2);
  });
});
