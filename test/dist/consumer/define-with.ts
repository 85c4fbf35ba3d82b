// Compiled with `declaration: true`: every type that is inferred here has to have a name that can be imported.
import { createServer, defineWith, type Lifespan } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { z } from 'zod';

export interface Types {
  readonly state: { readonly rows: readonly string[] };
  readonly user: { readonly account: string };
}

export const { tool, resource, prompt } = defineWith<Types>();

export const values = defineWith({
  lifespan: async function* () {
    yield { rows: ['a'] };
  },
  user: ({ request }) => ({ account: request?.header('x-account') ?? 'nobody' }),
});

export const find = tool({
  input: z.object({ id: z.string(), days: z.number().default(1) }),
  output: z.object({ sky: z.enum(['clear', 'rain']) }),
  run: (_input, { state }) => ({ sky: state.rows.length > 0 ? 'clear' : 'rain' }),
});
export const mine = resource({ read: (_values, { user }) => user.account });
export const greet = prompt({ args: z.object({ name: z.string() }), run: ({ name }) => name });

export const server = values.createServer({
  name: 'define-with',
  version: '1.0.0',
  tools: { find, count: values.tool({ run: (_input, { state }) => ({ rows: state.rows.length }) }) },
  resources: {
    'mine://account': mine,
    'rows://{id}{?q}': values.resource({ read: ({ id, q = 'none' }, { state }) => [id, q, state.rows] }),
  },
  prompts: { greet },
  methods: {
    'acme/search': { params: z.object({ query: z.string() }), run: ({ query }) => ({ hits: query.length }) },
  },
});

export const client = connect<typeof server>(server);
export const found = client.then(({ tool: { find: call } }) => call({ id: 'x' }));

/** A server whose state is a type parameter, so that its type is printed as it is written. */
export function serverWith<State>(lifespan: Lifespan<State>) {
  return createServer({ name: 'define-with', version: '1.0.0', lifespan });
}
