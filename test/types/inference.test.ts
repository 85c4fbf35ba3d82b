import {
  type Context,
  createServer,
  defineWith,
  jsonSchema,
  prompt,
  type ToolResult,
  tool,
  type ValueHandle,
} from 'fullmcp';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

type Returned<T extends { readonly '~signature'?: unknown }> = ReturnType<
  Extract<T['~signature'], (args: never) => unknown>
>;

describe('the inferred types', () => {
  it('flow from the schema to the handler', () => {
    tool({
      input: z.object({ a: z.number(), b: z.string().default('x') }),
      run: (input, ctx) => {
        expectTypeOf(input).toEqualTypeOf<{ a: number; b: string }>();
        expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
        return 1;
      },
    });
    tool({
      input: jsonSchema<{ n: number }>({ type: 'object' }),
      run: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<number>();
      },
    });
    tool({
      input: { type: 'object' },
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>();
      },
    });
    prompt({
      args: z.object({ code: z.string() }),
      run: ({ code }) => {
        expectTypeOf(code).toEqualTypeOf<string>();
        return code;
      },
    });
  });

  it('make the compiler check a handler against its output schema', () => {
    const output = z.object({ sum: z.number() });
    tool({ output, run: () => ({ sum: 1 }) });
    tool({ output, run: async (): Promise<ToolResult> => ({ content: [] }) });
    // Plain JSON Schema has no type for the compiler, so an array is accepted like an object.
    tool({ output: { type: 'array' }, run: () => [1, 2] });
    // @ts-expect-error The sum must be a number.
    tool({ output, run: () => ({ sum: 'one' }) });
  });

  it('of a tool that returns handles are those of the handle', () => {
    const rows = tool({ handle: true, output: z.array(z.string()), run: () => ['a'] });
    expectTypeOf<Returned<typeof rows>>().toEqualTypeOf<ValueHandle>();
    const plain = tool({ handle: false, run: (): number => 1 });
    expectTypeOf<Returned<typeof plain>>().toEqualTypeOf<number>();
    const { tool: typed } = defineWith<{ state: { db: string } }>();
    const own = typed({ handle: true, run: (_, { state }) => [state.db] });
    expectTypeOf<Returned<typeof own>>().toEqualTypeOf<ValueHandle>();
  });

  it('of lifespan and user reach every tool', () => {
    createServer({
      name: 't',
      version: '1',
      lifespan: async function* () {
        yield { db: 'x' };
      },
      user: ({ state }) => {
        expectTypeOf(state).toEqualTypeOf<{ db: string }>();
        return { id: 1 };
      },
      tools: {
        a: tool({ run: (_, ctx: Context<{ db: string }, { id: number }>) => ctx.state.db + ctx.user.id }),
      },
    });
    const { tool: typed } = defineWith<{ state: { db: string }; user: { id: number } }>();
    const a = typed({ run: (_, { state, user }) => state.db + user.id });
    // @ts-expect-error The server has no lifespan that yields the state of the tool.
    createServer({ name: 't', version: '1', tools: { a } });
  });

  it('reach the handlers of imperative definitions', () => {
    const server = createServer({ name: 't', version: '1' });
    server.tool('add', { input: z.object({ a: z.number() }) }, ({ a }) => {
      expectTypeOf(a).toEqualTypeOf<number>();
    });
    server.resource('users://{id}/profile', {}, ({ id }) => {
      expectTypeOf(id).toEqualTypeOf<string>();
    });
    server.prompt('p', { args: z.object({ code: z.string() }) }, ({ code }) => {
      expectTypeOf(code).toEqualTypeOf<string>();
      return code;
    });
  });
});
