// The values that libraries usually export, without annotations: the compiler must be able to name every type.
import {
  type Call,
  type Context,
  createServer,
  type Dispatch,
  defineWith,
  memoryStore,
  prompt,
  resource,
  tool,
} from 'fullmcp';
import { app, appPage, apps, withApp } from 'fullmcp/apps';
import { anyOf, apiKey, jwt } from 'fullmcp/auth';
import { type Client, connect, withClient } from 'fullmcp/client';
import { extension } from 'fullmcp/extension';
import { gateway } from 'fullmcp/gateway';
import { createHandler, memoryEventLog } from 'fullmcp/http';
import { cache, circuitBreaker, logging, policy, rateLimit } from 'fullmcp/middleware';
import { auditFile, serve } from 'fullmcp/node';
import { oauth } from 'fullmcp/oauth';
import { postgres } from 'fullmcp/postgres';
import { proxy } from 'fullmcp/proxy';
import { redis } from 'fullmcp/redis';
import { rest } from 'fullmcp/rest';
import { mockServer, testClient } from 'fullmcp/testing';
import { toolSearch, toTools } from 'fullmcp/tools';
import { resourcesAsTools, transform, versions } from 'fullmcp/transform';
import { z } from 'zod';

export const add = tool({
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});
export const greet = prompt({ args: z.object({ name: z.string() }), run: ({ name }) => `Hello ${name}` });
export const note = resource({ read: () => 'A note' });
export const inner = createServer({
  name: 'inner',
  version: '1.0.0',
  tools: { add },
  prompts: { greet },
  resources: { 'notes://{id}': resource({ read: ({ id }) => id }) },
});
export const server = createServer({ name: 'outer', version: '1.0.0', mount: { inner }, tools: { add } });
export const makeServer = (name: string) => createServer({ name, version: '1.0.0', tools: { add } });
export const definers = defineWith({ user: () => ({ account: 'a' }) });

export const client = connect<typeof server>('https://example.com/mcp');
export const opened = async () => ({ client: await client, tools: await (await client).tools() });
export const listed = withClient('https://example.com/mcp', (one) => one.tools());
export const front = proxy('https://example.com/mcp');
export const gate = gateway({ mcpServers: {} });
export const handler = createHandler(server);
export const api = rest(server);
export const serving = () => serve(server, { port: 0 });

export function counted() {
  return async function counted(call: Call, next: Dispatch) {
    return next({ ...call, params: paramsOf(call) });
  };
}
export const paramsOf = (call: Call) => call.params;
export const use = [logging(), circuitBreaker()];
export const limit = rateLimit('10/s');
export const cached = cache({ ttlMs: 1000 });
export const rules = policy({ default: 'deny', rules: [] });
export const log = auditFile({ path: 'audit.log' });

export const keys = jwt({ issuer: 'https://example.com', audience: 'https://example.com/mcp' });
export const auth = anyOf(keys, apiKey({ keys: [] }));
export const login = oauth();
export const store = memoryStore();
export const events = memoryEventLog();
export const database = postgres({ url: 'postgres://localhost/mcp' });
export const cluster = redis({ url: 'redis://localhost' });

export const search = extension({ id: 'com.example/search' });
export const page = app({ uri: 'ui://page', html: appPage({ body: 'Hello' }) });
export const shown = withApp(add, page);
export const pages = apps(page);
export const renamed = transform(inner, { tools: { add: { name: 'plus' } } });
export const both = versions({ '1': add, '2': add });
export const asTools = resourcesAsTools();

export const forModel = (one: Client) => toTools(one, 'anthropic');
export const found = (one: Client) => toolSearch(one);
export const tested = testClient(server);
export const mock = mockServer({});
export const helpers = (ctx: Context) => ({ logger: ctx.logger, step: ctx.step, elicit: ctx.elicit });
