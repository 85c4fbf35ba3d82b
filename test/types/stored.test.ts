import { createServer, stored, tool } from 'fullmcp';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const cart = stored({
  name: 'cart',
  schema: z.object({ at: z.string().transform((text) => text.length) }),
  initial: { at: '' },
});
const name = stored({ name: 'name', schema: z.string() });

test('a value has the type that its schema gives, and is undefined only without an initial value', () => {
  createServer({
    name: 'test',
    version: '1.0.0',
    tools: {
      use: tool({
        async run(_, ctx) {
          expectTypeOf(await ctx.store(cart).get()).toEqualTypeOf<{ at: number }>();
          expectTypeOf(await ctx.store(name).get()).toEqualTypeOf<string | undefined>();
          // With an id, a value that is not there is an error.
          expectTypeOf(await ctx.store(name, 'id').get()).toEqualTypeOf<string>();
          await ctx.store(name).update((before) => {
            expectTypeOf(before).toEqualTypeOf<string | undefined>();
            return 'x';
          });
          const changed = await ctx.store(cart, 'id').update(({ at }) => ({ at: 'x'.repeat(at) }));
          expectTypeOf(changed).toEqualTypeOf<{ at: number }>();
          expectTypeOf(await ctx.store(cart).create({ at: 'x' })).toEqualTypeOf<string>();
          expectTypeOf(await ctx.store(name).list()).toEqualTypeOf<
            readonly { readonly id: string; readonly value: string }[]
          >();
          // @ts-expect-error: not a string.
          await ctx.store(name).set(5);
          // @ts-expect-error: one of several values cannot make another one.
          await ctx.store(name, 'id').create('x');
        },
      }),
    },
  });
  // @ts-expect-error: the initial value does not fit the schema.
  expectTypeOf(stored({ name: 'name', schema: z.string(), initial: 5 })).not.toBeAny();
});
