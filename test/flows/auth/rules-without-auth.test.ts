import { createServer, prompt, resource, type Server, tool } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { expect, it } from 'vitest';

// A server whose rules nobody can fulfil, because nothing identifies its callers.

const provider = bearer((token) => ({ subject: token }));
const scopes = ['files:read'];
const run = (): string => 'done';

function logged(options: object): { readonly server: Server; readonly warnings: string[] } {
  const warnings: string[] = [];
  const server = createServer({
    name: 'ruled',
    version: '1.0.0',
    logger: (level, message) => void (level === 'warning' && warnings.push(message)),
    ...options,
  });
  return { server, warnings };
}

it.each([
  ['a tool with scopes', { tools: { read: tool({ scopes, run }) } }],
  ['a tool with a function', { tools: { read: tool({ allow: () => true, run }) } }],
  ['a resource with scopes', { resources: { 'a://b': resource({ scopes, read: run }) } }],
  ['a template with scopes', { resources: { 'a://{b}': resource({ scopes, read: run }) } }],
  ['a prompt with scopes', { prompts: { ask: prompt({ scopes, run }) } }],
  ['a rule for all tools', { access: { scopes }, tools: { read: tool({ run }) } }],
])('A server with %s and without auth says in its log that nobody can use it over HTTP', (_, options) => {
  const { server, warnings } = logged(options);
  expect(server.isGuarded).toBe(true);
  createHandler(server);
  expect(warnings).toEqual([expect.stringContaining('has access rules ("scopes" or "allow") and no "auth"')]);
});

it('A server on Node says once that its rules have no auth', async () => {
  const { server, warnings } = logged({ tools: { read: tool({ scopes, run }) } });
  await using _serving = await serve(server, { port: 0, signals: false });
  expect(warnings).toHaveLength(1);
});

it('A server whose callers are identified, or which has no rules, says nothing about rules', () => {
  const guarded = { tools: { read: tool({ scopes, run }) } };
  const plain = logged({ tools: { read: tool({ run }) } });
  createHandler(plain.server);
  const own = logged({ ...guarded, auth: provider });
  createHandler(own.server);
  const given = logged(guarded);
  createHandler(given.server, { auth: provider });
  createHandler(given.server, { auth: () => undefined });
  expect([plain.server.isGuarded, ...plain.warnings, ...own.warnings, ...given.warnings]).toEqual([false]);
});
