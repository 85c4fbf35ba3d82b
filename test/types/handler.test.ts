import { createServer, defineWith, type Infer, type ToolResult, tool } from 'fullmcp';
import * as v from 'valibot';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

/** The parts of the function type that a client gets for a tool. */
type Signature<T> = T extends { readonly '~signature'?: infer F } ? NonNullable<F> : never;
type Value<T> = Signature<T> extends (args: never) => infer V ? V : never;
type Arguments<T> = Signature<T> extends (args: infer A) => unknown ? A : never;

const input = z.object({ id: z.string() });
const output = z.object({
  id: z.string(),
  sky: z.enum(['clear', 'rain']),
  at: z.tuple([z.number(), z.literal('s')]),
  hours: z.number().default(1),
});

describe('a handler', () => {
  it('keeps literal types that its output schema expects', () => {
    tool({ input, output, run: ({ id }) => ({ id, sky: 'clear', at: [1, 's'] }) });
    tool({ input, output, run: async ({ id }) => ({ id, sky: 'rain', at: [1, 's'] }) });
    tool({ output, run: () => ({ id: 'x', sky: 'clear', at: [1, 's'] }) });
    tool({ output, run: async () => ({ id: 'x', sky: 'clear', at: [1, 's'] }) });
    tool({
      output,
      async run() {
        if (Math.random() > 2) return { id: 'x', sky: 'rain', at: [1, 's'] };
        return { id: 'x', sky: 'clear', at: [1, 's'] };
      },
    });
    tool({
      input,
      output: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('found'), row: z.object({ tags: z.array(z.enum(['a', 'b'])) }) }),
        z.object({ kind: z.literal('missing') }),
      ]),
      run: ({ id }) => {
        if (id === '') return { kind: 'missing' };
        return { kind: 'found', row: { tags: ['a'] } };
      },
    });
    tool({
      output: z.object({ rows: z.array(z.object({ kind: z.literal('row'), n: z.number() })) }),
      run: () => ({ rows: [1, 2].map((n) => ({ kind: 'row', n })) }),
    });
    tool({ output: v.object({ sky: v.picklist(['clear', 'rain']) }), run: () => ({ sky: 'clear' }) });
    const { tool: typed } = defineWith<{ state: { sky: 'clear' } }>();
    typed({ output, run: (_, { state }) => ({ id: 'x', sky: state.sky, at: [1, 's'] }) });
    typed({ output, run: () => ({ id: 'x', sky: 'clear', at: [1, 's'] }) });
    const server = createServer({ name: 't', version: '1' });
    server.tool('a', { output }, () => ({ id: 'x', sky: 'clear', at: [1, 's'] }));
    server.tool('b', { input, output }, ({ id }) => ({ id, sky: 'clear', at: [1, 's'] }));
  });

  it('may be a generator, whose value is the type that it returns, or else its text', () => {
    createServer({
      name: 't',
      version: '1',
      tools: {
        a: tool({
          input,
          async *run({ id }, ctx) {
            expectTypeOf(id).toEqualTypeOf<string>();
            expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
            yield id;
          },
        }),
      },
    });
    const counting = tool({
      async *run() {
        yield 'x';
        return 5;
      },
    });
    expectTypeOf<Value<typeof counting>>().toEqualTypeOf<number>();
    const telling = tool({
      async *run() {
        yield 'x';
      },
    });
    expectTypeOf<Value<typeof telling>>().toEqualTypeOf<string>();
    const checked = tool({
      input,
      output,
      async *run({ id }) {
        yield 'x';
        return { id, sky: 'clear' as const, at: [1, 's'] as [number, 's'] };
      },
    });
    expectTypeOf<Value<typeof checked>>().toEqualTypeOf<Infer<typeof output>>();
    tool({
      output,
      // @ts-expect-error A number is not content.
      async *run() {
        yield 5;
        return { id: 'x', sky: 'clear' as const, at: [1, 's'] as [number, 's'] };
      },
    });
  });

  it('may return a value that is not an object, a whole result, or anything if the output schema accepts anything', () => {
    tool({ output: z.array(z.enum(['a', 'b'])), run: () => ['a'] });
    tool({ output: z.array(z.string()), run: () => [] });
    tool({ output: z.tuple([z.literal('a'), z.number()]), run: () => ['a', 1] });
    tool({ output: z.number(), run: () => 5 });
    tool({ output: z.object({ a: z.number() }).nullable(), run: () => null });
    tool({ output: z.record(z.string(), z.number()), run: () => ({ a: 1 }) });
    tool({ output: z.looseObject({ a: z.number() }), run: () => ({ a: 1, b: 2 }) });
    tool({ output: z.unknown(), run: () => ({ a: 1 }) });
    tool({ output: { type: 'object' }, run: () => ({ a: 1 }) });
    tool({ output, run: () => ({ content: [{ type: 'text', text: 'x' }], isError: true }) });
    tool({ output, run: async (): Promise<ToolResult> => ({ content: [] }) });
    tool({ run: () => new Promise((resolve) => setImmediate(() => resolve('late'))) });
    tool({ run: () => new Promise((resolve) => setImmediate(() => resolve(new Date(0)))) });
  });

  it('may be loaded lazily, with the first call', () => {
    const lazy = tool({
      input: z.object({ q: z.string() }),
      load: async () => ({ run: ({ q }: { q: string }) => q.length }),
    });
    expectTypeOf<Value<typeof lazy>>().toEqualTypeOf<number>();
    // @ts-expect-error The handler of the module needs another input.
    tool({ input, load: async () => ({ run: ({ id }: { id: number }) => id }) });
  });

  it('has no input fields to read if the tool has no input schema', () => {
    // @ts-expect-error There is no such field.
    tool({ run: ({ a }) => a });
    tool({ run: (_input, ctx) => ctx.signal.aborted });
  });

  it('needs a schema for its input and output: an object of schemas does not compile', () => {
    // @ts-expect-error It has to be wrapped in z.object.
    tool({ input: { a: z.number() }, run: () => 1 });
    // @ts-expect-error So does the output.
    tool({ output: { a: z.number() }, run: () => ({ a: 1 }) });
    const remote: Record<string, unknown> = { type: 'object' };
    tool({ input: remote, run: (fields) => fields['a'] });
    tool({ input: {}, run: (fields) => fields['a'] });
    tool({ input: { type: 'object', properties: { a: { type: 'number' } } }, run: (fields) => fields['a'] });
  });
});

describe('the type of a tool', () => {
  it('is the function that a client calls, with the defaults of both schemas applied', () => {
    const forecast = tool({
      input: z.object({ id: z.string(), days: z.number().default(3) }),
      output,
      run: ({ id, days }) => ({ id, sky: days > 3 ? 'rain' : 'clear', at: [1, 's'] }),
    });
    expectTypeOf<Arguments<typeof forecast>>().toEqualTypeOf<{ id: string; days?: number | undefined }>();
    expectTypeOf<Value<typeof forecast>>().toEqualTypeOf<Infer<typeof output>>();
    expectTypeOf<Value<typeof forecast>['hours']>().toEqualTypeOf<number>();
  });

  it('is the same for a tool of defineWith', () => {
    const { tool: typed } = defineWith<{ state: { n: number }; user: undefined }>();
    const add = typed({ input: z.object({ a: z.number() }), run: ({ a }, { state }) => a + state.n });
    expectTypeOf<Arguments<typeof add>>().toEqualTypeOf<{ a: number }>();
    expectTypeOf<Value<typeof add>>().toEqualTypeOf<number>();
  });
});
