import {
  type Context,
  createServer,
  defineWith,
  prompt as freePrompt,
  resource as freeResource,
  tool as freeTool,
  inProcess,
} from 'fullmcp';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

const sky = z.object({ sky: z.enum(['clear', 'rain']) });
const args = z.object({ code: z.string() });

class Db {
  readonly rows: readonly string[] = ['a'];
}
const quiet = { name: 't', version: '1', logger: () => undefined };

const {
  tool,
  resource,
  prompt,
  createServer: build,
} = defineWith({
  lifespan: async function* () {
    yield { db: new Db() };
  },
  user: ({ request, state }) => ({ account: request?.header('x-account') ?? 'nobody', from: state.db }),
});

describe('defineWith with values', () => {
  it('types state, user, variables, params and completion keys where they are written', () => {
    const server = build({
      ...quiet,
      tools: {
        find: tool({
          input: z.object({ id: z.string(), days: z.number().default(3) }),
          output: z.object({ id: z.string(), sky: z.enum(['clear', 'rain']) }),
          run: ({ id, days }, ctx) => {
            expectTypeOf(days).toEqualTypeOf<number>();
            expectTypeOf(ctx.state.db).toEqualTypeOf<Db>();
            expectTypeOf(ctx.user.account).toEqualTypeOf<string>();
            return { id, sky: 'clear' };
          },
        }),
        count: tool({ run: (_input, { state, user }) => state.db.rows.length + user.account.length }),
        free: freeTool({ run: () => 'needs nothing' }),
      },
      resources: {
        'users://{id}/{+path}{?q,limit}{/rest*}': resource({
          complete: {
            id: (typed, _filled, ctx) => [typed, ctx.user.account, ...ctx.state.db.rows],
            q: () => [],
          },
          read: ({ id, path, q, limit, rest }, ctx) => {
            expectTypeOf(id).toEqualTypeOf<string>();
            expectTypeOf(path).toEqualTypeOf<string>();
            expectTypeOf(q).toEqualTypeOf<string | undefined>();
            expectTypeOf(limit).toEqualTypeOf<string | undefined>();
            expectTypeOf(rest).toEqualTypeOf<readonly string[] | undefined>();
            return [ctx.uri, ctx.state.db.rows, ctx.user.account];
          },
        }),
        'config://app': resource({ read: () => 1 }),
        'watched://{id}{?q}': freeResource({
          onSubscribe: ({ id, q }, { uri, signal, changed }) => {
            expectTypeOf(id).toEqualTypeOf<string>();
            expectTypeOf(q).toEqualTypeOf<string | undefined>();
            expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
            changed.resource(uri);
          },
          async *list(ctx, { cursor, limit }) {
            expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
            expectTypeOf(cursor).toEqualTypeOf<string | undefined>();
            yield `watched://${limit}`;
            yield { uri: 'watched://2', name: 'Two' };
          },
          read: ({ id }) => id,
        }),
        'teams://{id}': freeResource({ read: ({ id }) => id.toUpperCase() }),
        'named://{id}': freeResource({ read: ({ id }: { id: string }) => id.toUpperCase() }),
      },
      prompts: {
        review: prompt({
          args: z.object({ code: z.string() }),
          complete: { code: (typed, _filled, { state }) => [typed, ...state.db.rows] },
          run: ({ code }, { user }) => code + user.account,
        }),
        free: freePrompt({ run: () => 'x' }),
      },
      methods: {
        'acme/search': {
          params: z.object({ query: z.string() }),
          run: ({ query }, ctx) => ({ hits: [query.length, ctx.user.account] }),
        },
        'acme/free': { run: (params) => ({ got: params['x'] }) },
      },
    });
    expectTypeOf(server.tool<undefined, undefined>)
      .parameter(2)
      .parameter(1)
      .toExtend<Context<{ db: Db }>>();
  });

  it('rejects, at the definition, handlers that do not fit its types', () => {
    const never = (): unknown => [
      build({
        ...quiet,
        tools: {
          // @ts-expect-error The output has no such sky.
          find: tool({ output: sky, run: () => ({ sky: 'purple' }) }),
          // @ts-expect-error An option is misspelt.
          other: tool({ anotations: {}, run: () => 1 }),
          // @ts-expect-error The state has no such field.
          third: tool({ run: (_input, ctx) => ctx.state.dbb }),
        },
        resources: {
          // @ts-expect-error The template has no such variable.
          'users://{id}': resource({ read: ({ idd }) => idd }),
          // @ts-expect-error Nor can it be completed.
          'teams://{id}': resource({ complete: { idd: () => [] }, read: ({ id }) => id }),
          // @ts-expect-error A variable of a query may be missing.
          'search://x{?q}': resource({ read: ({ q }) => q.length }),
          // @ts-expect-error The reader needs another variable.
          'named://{name}': freeResource({ read: ({ id }: { id: string }) => id }),
        },
        prompts: {
          // @ts-expect-error The prompt has no such argument.
          review: prompt({ args, complete: { cod: () => [] }, run: () => '' }),
        },
        methods: {
          // @ts-expect-error The params have no such field.
          'acme/search': { params: z.object({ query: z.string() }), run: ({ querry }) => ({ querry }) },
          // @ts-expect-error An object of schemas is not a schema.
          'acme/shape': { params: { query: z.string() }, run: ({ query }) => ({ query }) },
        },
      }),
    ];
    expect(never).toBeTypeOf('function');
  });

  it('rejects definitions of another defineWith at the definition', () => {
    const lifespan = async function* (): AsyncGenerator<{ other: number }, void, void> {
      yield { other: 1 };
    };
    const other = defineWith({ lifespan });
    const never = (): unknown => [
      other.createServer({
        ...quiet,
        tools: {
          fits: freeTool({ run: () => 1 }),
          // @ts-expect-error The tool needs another state.
          find: tool({ run: (_input, { state }) => state.db.rows }),
        },
      }),
      other.createServer({
        ...quiet,
        resources: {
          // @ts-expect-error The resource needs another state.
          'mine://{id}': resource({ read: ({ id }, { state }) => [id, state.db] }),
        },
        prompts: {
          // @ts-expect-error The prompt needs another user.
          mine: prompt({ run: (_args, { user }) => user.account }),
        },
      }),
      createServer({
        ...quiet,
        lifespan,
        tools: {
          // @ts-expect-error The tool needs another state.
          find: tool({ run: (_input, { state }) => state.db.rows }),
        },
      }),
      // @ts-expect-error The prompt needs a user, and nothing gives one.
      createServer({ ...quiet, prompts: { mine: prompt({ run: (_args, { user }) => user.account }) } }),
      // @ts-expect-error The resource needs a state, and nothing gives one.
      createServer({ ...quiet, resources: { 'a://b': resource({ read: (_, { state }) => state.db }) } }),
      // @ts-expect-error A schema is not a tool.
      createServer({ ...quiet, tools: { schema: z.object({}), free: freeTool({ run: () => 1 }) } }),
    ];
    expect(never).toBeTypeOf('function');
  });

  it('builds servers whose handlers get the values of the lifespan and the user option', async () => {
    await using server = build({
      ...quiet,
      tools: { who: tool({ run: (_input, { state, user }) => ({ by: user.account, rows: state.db.rows }) }) },
    });
    const { structuredContent } = await inProcess(server)('tools/call', { name: 'who' });
    expect(structuredContent).toEqual({ by: 'nobody', rows: ['a'] });
  });

  it('rejects misspelt options, and options that were already passed to defineWith, by name', () => {
    expect(() => defineWith({ lifspan: () => 1 } as never)).toThrow('Did you mean "lifespan"?');
    expect(() => build({ ...quiet, user: () => 1 } as never)).toThrow(
      '"user" was already passed to defineWith; remove it from the options of createServer',
    );
  });
});
