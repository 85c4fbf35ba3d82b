import { createServer, tool } from 'fullmcp';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Client } from '../../src/client/model/client.js';
import { inProcessClient } from '../support/in-process-client.js';

const server = createServer({
  name: 'math',
  version: '1',
  tools: {
    add: tool({ input: z.object({ a: z.number(), b: z.number().default(1) }), run: ({ a, b }) => a + b }),
    greet: tool({ input: z.object({ name: z.string() }), run: async ({ name }) => `Hello, ${name}` }),
    now: tool({ run: () => ({ hour: 12, zone: 'UTC' }) }),
    maybe: tool({
      input: z.object({ n: z.number().optional() }),
      run: ({ n }) => (n === undefined ? null : n),
    }),
    checked: tool({ output: z.object({ ok: z.boolean() }), run: () => ({ ok: true }) }),
    quiet: tool({ run: () => {} }),
    loaded: tool({
      input: z.object({ q: z.string() }),
      load: async () => ({ run: ({ q }: { q: string }) => q.length }),
    }),
  },
});

describe('a client that knows the type of its server', () => {
  it('has the tools as functions, with their input and output types', async () => {
    await using client = (await inProcessClient(server)) as Client<typeof server>;
    const sum = await client.tool.add({ a: 1, b: 2 });
    expectTypeOf(sum).toEqualTypeOf<number>();
    expect(sum).toBe(3);
    // A property with a default may be omitted.
    expect(await client.tool.add({ a: 1 })).toBe(2);
    const greeting = await client.tool.greet({ name: 'Ada' });
    expectTypeOf(greeting).toEqualTypeOf<string>();
    expect(greeting).toBe('Hello, Ada');
    const now = await client.tool.now();
    expectTypeOf(now).toEqualTypeOf<{ hour: 12; zone: 'UTC' }>();
    expect(now.hour).toBe(12);
    const nothing = await client.tool.maybe();
    expectTypeOf(nothing).toEqualTypeOf<number | null>();
    expect(nothing).toBeNull();
    const checked = await client.tool.checked();
    expectTypeOf(checked.ok).toEqualTypeOf<boolean>();
    expect(await client.tool.quiet()).toBe('');
    expect(await client.tool.loaded({ q: 'abc' })).toBe(3);
  });

  it('does not compile with a wrong tool name or wrong arguments', () => {
    const never = (client: Client<typeof server>): void => {
      // @ts-expect-error There is no such tool.
      void client.tool.addd({ a: 1 });
      // @ts-expect-error There is no such argument.
      void client.tool.add({ a: 1, c: 2 });
      // @ts-expect-error An argument is missing.
      void client.tool.add({ b: 1 });
      // @ts-expect-error A number is not a string.
      void client.tool.greet({ name: 1 });
      // @ts-expect-error The arguments are missing.
      void client.tool.greet();
    };
    expect(never).toBeTypeOf('function');
  });

  it('has any tool name if the type of its server is unknown', () => {
    expectTypeOf<Client['tool']['whatever']>().not.toBeNever();
  });
});
