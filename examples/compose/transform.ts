// The definitions of one server, changed for another one.
import { createServer, prompt, resource, tool } from 'fullmcp';
import { promptsAsTools, resourcesAsTools, transform, versions } from 'fullmcp/transform';
import { z } from 'zod';

// A server that another team wrote.
const crm = createServer({
  name: 'crm',
  version: '1.0.0',
  tools: {
    find: tool({
      description: 'Finds contacts',
      input: z.object({ text: z.string(), tenant: z.string(), limit: z.int() }),
      run: ({ text, tenant, limit }) => `${limit} contacts of ${tenant} like ${text}`,
    }),
    reindex: tool({ tags: ['internal'], run: () => 'Done' }),
    export: tool({ run: () => 'All contacts' }),
  },
  resources: { 'crm://help': resource({ read: () => 'How to use the CRM' }) },
  prompts: { mail: prompt({ args: z.object({ to: z.string() }), run: ({ to }) => `Write to ${to}` }) },
});

// #region transform
export const server = createServer({
  name: 'sales',
  version: '1.0.0',
  mount: {
    crm: transform(crm, {
      tools: {
        // crm_contacts({ query, limit? })
        find: {
          name: 'contacts',
          description: 'Finds contacts of Acme by name or email address',
          args: {
            text: { name: 'query', description: 'A name, or a part of it' },
            tenant: { value: 'acme' },
            limit: { default: 20 },
          },
        },
        export: { allow: (auth) => auth?.claims['role'] === 'manager' },
      },
      every: ({ tags }) => (tags.includes('internal') ? { hidden: true } : undefined),
    }),
  },
});
// #endregion

// #region definitions
export const changed = transform(
  { tools: { sum: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }) } },
  { tools: { sum: { name: 'increment', args: { b: { value: 1 } } } } },
);

export const counter = createServer({ name: 'counter', version: '1.0.0', ...changed });
// #endregion

// #region run
export const audited = transform(crm, {
  tools: {
    find: {
      args: { tenant: { hidden: true, default: '' } },
      async run(input, ctx, next) {
        const tenant = ctx.auth?.claims['tenant'];
        return tenant === undefined ? 'Log in first' : next({ ...input, tenant });
      },
    },
  },
});
// #endregion

// #region versions
const searchV1 = tool({ input: z.object({ query: z.string() }), run: ({ query }) => `Old: ${query}` });
const searchV2 = tool({
  input: z.object({ terms: z.array(z.string()) }),
  run: ({ terms }) => terms.join(' and '),
});

export const shop = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    search: versions(
      { '1.0': searchV1, '2.0': searchV2 },
      { choose: (auth) => (auth?.claims['plan'] === 'legacy' ? '1.0' : undefined) },
    ),
  },
});
// #endregion

// #region rollout
/** The second of two releases. In the first one, `current` was `'1.0'`. */
export const rolledOut = createServer({
  name: 'shop',
  version: '2.0.0',
  drafts: true,
  tools: { search: versions({ '1.0': searchV1, '2.0': searchV2 }, { current: '2.0' }) },
});
// #endregion

// #region as-tools
export const forToolsOnly = createServer({
  name: 'sales',
  version: '1.0.0',
  mount: { crm },
  // list_resources, read_resource, list_prompts, get_prompt
  tools: { ...resourcesAsTools(), ...promptsAsTools() },
});
// #endregion
