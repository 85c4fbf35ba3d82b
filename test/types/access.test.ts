import { type Allow, type Auth, createServer, prompt, resource, tool } from 'fullmcp';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const isAnn: Allow = (auth, input, { kind, name }) =>
  auth?.subject === 'ann' && [input, kind, name].length === 3;

test('`allow` knows the caller and the input of its definition, and leaves the handler its types', () => {
  createServer({
    name: 'test',
    version: '1.0.0',
    access: { allow: isAnn, scopes: ['mcp'], tags: { admin: { allow: isAnn } } },
    tools: {
      typed: tool({
        scopes: ['a'],
        input: z.object({ n: z.coerce.number() }),
        allow(auth, input) {
          expectTypeOf(auth).toEqualTypeOf<Auth | undefined>();
          expectTypeOf(input).toEqualTypeOf<{ n: number } | undefined>();
          return true;
        },
        run: ({ n }) => n.toFixed(),
      }),
      shared: tool({ input: z.object({ n: z.number() }), allow: isAnn, run: ({ n }) => n.toFixed() }),
    },
    prompts: {
      review: prompt({
        args: z.object({ code: z.string() }),
        allow: (_, args) => args?.code.length !== 0,
        run: ({ code }) => code.trim(),
      }),
    },
    resources: {
      'users://{id}': resource({
        allow(_, values) {
          expectTypeOf(values?.id).toEqualTypeOf<string | undefined>();
          return true;
        },
        read: ({ id }) => id.trim(),
      }),
      'shared://{id}': resource({ allow: isAnn, read: ({ id }) => id.trim() }),
      'fixed://one': resource({ allow: async (auth) => auth !== undefined, read: () => 'one' }),
    },
  });
  // @ts-expect-error scopes are strings in an array.
  expect(() => tool({ scopes: 'a', run: () => 1 })).not.toThrow();
  // @ts-expect-error a misspelled option.
  expect(() => tool({ scope: ['a'], run: () => 1 })).not.toThrow();
  // @ts-expect-error the input may be missing: lists have none.
  tool({ input: z.object({ n: z.number() }), allow: (_, input) => input.n > 0, run: () => 1 });
});

test('`ctx.auth` has the facts about the caller', () => {
  tool({
    run(_, { auth }) {
      expectTypeOf(auth).toEqualTypeOf<Auth | undefined>();
      expectTypeOf(auth?.subject).toEqualTypeOf<string | undefined>();
      expectTypeOf(auth?.issuer).toEqualTypeOf<string | undefined>();
      expectTypeOf(auth?.email).toEqualTypeOf<string | undefined>();
      expectTypeOf(auth?.scopes).toEqualTypeOf<readonly string[] | undefined>();
      return '';
    },
  });
});
