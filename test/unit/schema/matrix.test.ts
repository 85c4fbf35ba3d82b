import { type Static, Type } from '@sinclair/typebox';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type as ark } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { z as z3 } from 'zod3';
import type { CompiledSchema } from '../../../src/schema/check/compiled-schema.js';
import type { ValidationResult } from '../../../src/schema/check/issue.js';
import { compileSchema } from '../../../src/schema/compile.js';
import { explain } from '../../../src/schema/explain/explain.js';
import { type Infer, jsonSchema, type Schema, withJsonSchema } from '../../../src/schema/schema.js';

interface Order {
  item: string;
  count: number;
  gift?: boolean | undefined;
  tags?: string[] | undefined;
  size: 'small' | 'large';
}

const json = {
  type: 'object',
  properties: {
    item: { type: 'string', minLength: 2 },
    count: { type: 'integer', minimum: 1 },
    gift: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    size: { enum: ['small', 'large'] },
  },
  required: ['item', 'count', 'size'],
} as const;

const zod4 = z.object({
  item: z.string().min(2),
  count: z.int().min(1),
  gift: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  size: z.enum(['small', 'large']),
});
const zod3 = z3.object({
  item: z3.string().min(2),
  count: z3.number().int().min(1),
  gift: z3.boolean().optional(),
  tags: z3.array(z3.string()).optional(),
  size: z3.enum(['small', 'large']),
});
const valibot = v.object({
  item: v.pipe(v.string(), v.minLength(2)),
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
  gift: v.optional(v.boolean()),
  tags: v.optional(v.array(v.string())),
  size: v.picklist(['small', 'large']),
});
const arktype = ark({
  item: 'string >= 2',
  count: 'number.integer >= 1',
  'gift?': 'boolean',
  'tags?': 'string[]',
  size: "'small' | 'large'",
});
const typebox = Type.Object({
  item: Type.String({ minLength: 2 }),
  count: Type.Integer({ minimum: 1 }),
  gift: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String())),
  size: Type.Union([Type.Literal('small'), Type.Literal('large')]),
});
// The cast: here zod-to-json-schema sees another copy of zod 3's types than the alias does.
const zod3Json = zodToJsonSchema(zod3 as unknown as Parameters<typeof zodToJsonSchema>[0]);
const zod3Paired = withJsonSchema(zod3, zod3Json);
const valibotSpeaking = toStandardJsonSchema(valibot);
const marked = jsonSchema<Order>(json);

const matrix: readonly (readonly [string, Schema])[] = [
  ['zod 4', zod4],
  ['zod 3 with zod-to-json-schema', zod3Paired],
  ['valibot', valibotSpeaking],
  ['arktype', arktype],
  ['TypeBox', typebox],
  ['jsonSchema()', marked],
  ['plain JSON Schema', json],
  ['JSON Schema 2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...json }],
  ['JSON Schema draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', ...json }],
];

const good = { item: 'tea', count: 2, gift: true, tags: ['hot'], size: 'small' };

describe.each(matrix)('the schema library %s', (_name, schema) => {
  const compiled = compileSchema(schema, { io: 'input', requireObject: true });

  it('produces a JSON Schema with nothing dropped', () => {
    const properties = compiled.json['properties'] as Record<string, Record<string, unknown>>;
    expect(compiled.json['type']).toBe('object');
    expect(Object.keys(properties).sort()).toEqual(['count', 'gift', 'item', 'size', 'tags']);
    expect([...(compiled.json['required'] as string[])].sort()).toEqual(['count', 'item', 'size']);
    expect(properties['item']).toMatchObject({ type: 'string', minLength: 2 });
    expect(properties['tags']).toMatchObject({ type: 'array', items: { type: 'string' } });
  });

  it('accepts valid values, synchronously and unchanged', () => {
    expect(now(compiled, good)).toEqual({ ok: true, value: good });
    expect(now(compiled, { item: 'tea', count: 1, size: 'large' }).ok).toBe(true);
  });

  it.each([
    ['a wrong type', { ...good, item: 5 }, ['item']],
    ['a missing field', { item: 'tea', size: 'small' }, ['count']],
    ['a value out of bounds', { ...good, count: 0 }, ['count']],
    ['a fraction for an integer', { ...good, count: 1.5 }, ['count']],
    ['a wrong item', { ...good, tags: ['a', 7] }, ['tags', 1]],
    ['null', null, []],
    ['an array', [], []],
  ])('rejects %s, with the path', (_what, value, path) => {
    const checked = now(compiled, value);
    if (checked.ok) throw new Error('was accepted');
    const paths = checked.issues.map((issue) => issue.path);
    // For an array some libraries report every missing field rather than the root.
    if (Array.isArray(value)) expect(paths.length).toBeGreaterThan(0);
    else expect(paths).toContainEqual(path);
    expect(checked.issues.every((issue) => issue.message.length > 0)).toBe(true);
  });

  it('coerces values that models send as strings', () => {
    const sent = { item: '12', count: '2', gift: 'false', tags: '["1"]', size: 'small' };
    const frozen = structuredClone(sent);
    expect(now(compiled, sent)).toEqual({
      ok: true,
      value: { item: '12', count: 2, gift: false, tags: ['1'], size: 'small' },
    });
    expect(sent).toEqual(frozen);
    expect(now(compiled, { ...sent, count: '2.5' }).ok).toBe(false);
  });

  it('explains problems in the words of fullmcp', () => {
    const value = { item: 'tea', count: 'many', size: 'huge' };
    const checked = now(compiled, value);
    if (checked.ok) throw new Error('was accepted');
    const text = explain(checked.issues, compiled, value);
    expect(text).toContain('count: expected an integer, got the string "many"');
    expect(text).toMatch(
      /size: expected (one of )?"(small|large)"(,| or) "(small|large)", got the string "huge"/,
    );
    expect(text).toMatch(/Valid fields: .*\bitem\b/);
    expect(text).not.toContain('tea');
  });

  it('rejects values that are not JSON without throwing', () => {
    for (const value of [undefined, Number.NaN, () => 0, 5n, Symbol('x')]) {
      expect(now(compiled, value).ok).toBe(false);
    }
  });
});

it('a definition infers the types of its schema', () => {
  expectTypeOf<Infer<typeof zod4>>().toEqualTypeOf<z.output<typeof zod4>>();
  expectTypeOf<Infer<typeof zod3Paired>>().toEqualTypeOf<z3.output<typeof zod3>>();
  expectTypeOf<Infer<typeof valibotSpeaking>>().toEqualTypeOf<v.InferOutput<typeof valibot>>();
  expectTypeOf<Infer<typeof arktype>>().toEqualTypeOf<typeof arktype.infer>();
  expectTypeOf<Infer<typeof typebox>>().toEqualTypeOf<Static<typeof typebox>>();
  expectTypeOf<Infer<typeof marked>>().toEqualTypeOf<Order>();
  expectTypeOf<Infer<typeof json>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf<Infer<{ type: string }>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf<keyof Infer<undefined> & string>().toBeNever();
  const compiled = compileSchema(z.object({ n: z.string().transform(Number) }), { io: 'input' });
  expectTypeOf(compiled).toExtend<CompiledSchema<{ n: number }>>();
  expect(now(compiled, { n: '5' })).toEqual({ ok: true, value: { n: 5 } });
});

it('a validator awaits an asynchronous library', async () => {
  const schema = z.object({ n: z.number().refine(async (n) => n > 1, 'must be lucky') });
  const compiled = compileSchema(schema, { io: 'input' });
  const pending = compiled.validate({ n: 2 });
  expect(pending).toBeInstanceOf(Promise);
  expect(await pending).toEqual({ ok: true, value: { n: 2 } });
  expect(await compiled.validate({ n: '3' })).toEqual({ ok: true, value: { n: 3 } });
  expect(await compiled.validate({ n: 1 })).toEqual({
    ok: false,
    issues: [{ path: ['n'], message: 'must be lucky' }],
  });
});

it('an output is validated without coercion', () => {
  const compiled = compileSchema(z.object({ n: z.number() }), { io: 'output' });
  expect(now(compiled, { n: '5' }).ok).toBe(false);
  expect(compiled.json['additionalProperties']).toBe(false);
  expect(now(compileSchema(json, { io: 'output' }), { ...good, count: '2' }).ok).toBe(false);
});

it('a field of an output that is undefined is validated as missing', () => {
  const compiled = compileSchema(json, { io: 'output' });
  const value = { ...good, gift: undefined };
  expect(now(compiled, value)).toEqual({ ok: true, value });
  expect(now(compiled, { ...good, count: undefined }).ok).toBe(false);
});

it('the path of a problem stays readable with a symbol or an object segment', () => {
  const compiled = compileSchema(
    withJsonSchema(
      {
        '~standard': {
          version: 1 as const,
          vendor: 'ours',
          validate: () => ({
            issues: [{ message: 'no', path: [Symbol('s'), { key: 'k' }, 0] }, { message: 'root' }],
          }),
        },
      },
      { type: 'object' },
    ),
    { io: 'input' },
  );
  expect(now(compiled, {})).toEqual({
    ok: false,
    issues: [
      { path: ['Symbol(s)', 'k', 0], message: 'no' },
      { path: [], message: 'root' },
    ],
  });
});

/** The result of a synchronous library; a promise here would be a bug. */
function now<T>(compiled: CompiledSchema<T>, value: unknown): ValidationResult<T> {
  const checked = compiled.validate(value);
  if (checked instanceof Promise) throw new Error('a synchronous library returned a promise');
  return checked;
}
