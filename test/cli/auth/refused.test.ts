import { createServer, prompt, tool } from 'fullmcp';
import { type AuthProvider, apiKey, bearer, hashApiKey } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { invalidToken } from '../../../src/oauth/server/credentials.js';
import { fullmcp } from '../support/run-cli.js';

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

let created = 0;
const tools = {
  create_issue: tool({
    input: z.object({ title: z.string() }),
    scopes: ['issues:write'],
    run: () => `created ${++created}`,
  }),
  list_issues: tool({ run: () => 'none' }),
};

async function served(auth: AuthProvider, search = false): Promise<string> {
  const prompts = { triage: prompt({ scopes: ['issues:write'], run: () => 'Sort the issues.' }) };
  const logger = (): void => undefined;
  const server = createServer({ name: 'tracker', version: '1.0.0', tools, prompts, search, logger });
  const serving = await serve(server, { port: 0, signals: false, auth });
  closing.push(() => serving.close());
  return serving.url;
}

const callers = new Map([
  ['t-ada', { subject: 'ada', scopes: ['issues:write'] }],
  ['t-bob', { subject: 'bob', scopes: [] }],
]);
const tokens = bearer((token) => {
  const caller = callers.get(token);
  if (caller === undefined) throw invalidToken('The token is for another audience (aud): zz.');
  return caller;
});

describe('fullmcp call', () => {
  it('shows which scope is missing for a tool that the server does not list for this caller', async () => {
    const url = await served(tokens);
    const ran = await fullmcp(['call', url, 'create_issue', 'title=x', '--token', 't-bob']);
    expect(ran).toMatchObject({ exit: 6, stdout: '' });
    expect(ran.stderr).toContain('This needs the scope issues:write');
    expect(created).toBe(0);
    expect(await fullmcp(['call', url, 'create_issue', 'title=x', '--token', 't-ada'])).toMatchObject({
      exit: 0,
    });
    expect(created).toBe(1);
  });

  it('shows which scope is missing for a prompt that the server does not list for this caller', async () => {
    const url = await served(tokens);
    const ran = await fullmcp(['prompt', url, 'triage', '--token', 't-bob']);
    expect(ran).toMatchObject({ exit: 6, stdout: '' });
    expect(ran.stderr).toContain('This needs the scope issues:write');
    expect(await fullmcp(['prompt', url, 'triage', '--token', 't-ada'])).toMatchObject({ exit: 0 });
    expect(await fullmcp(['prompt', url, 'triagee', '--token', 't-ada'])).toMatchObject({
      exit: 2,
      stderr: 'No prompt is called "triagee". Did you mean "triage"?\n',
    });
  });

  it('says that no tool has a name which the server does not know, and which one is close', async () => {
    const url = await served(tokens);
    const ran = await fullmcp(['call', url, 'list_isues', '--token', 't-bob']);
    expect(ran).toMatchObject({
      exit: 2,
      stderr: 'No tool is called "list_isues". Did you mean "list_issues"?\n',
    });
  });

  it('checks the arguments of a tool that only a search finds, before it sends them', async () => {
    const url = await served(tokens, true);
    const wrong = await fullmcp(['call', url, 'create_issue', 'titel=x', '--token', 't-ada']);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('did you mean "title"?') });
    expect(created).toBe(1);
    const right = await fullmcp(['call', url, 'create_issue', 'title=x', '--token', 't-ada']);
    expect(right).toMatchObject({ exit: 0, stdout: 'created 2\n' });
  });

  it('shows why the server refuses a token, and speaks of its own options', async () => {
    const url = await served(tokens);
    const typed = await fullmcp(['call', url, 'list_issues', '--token', 'wrong']);
    expect(typed).toMatchObject({
      exit: 6,
      stderr: `${url} refused the token of --token (401): The token is for another audience (aud): zz. Check the token.\n`,
    });
    vi.stubEnv('MCP_TOKEN', 'wrong');
    const variable = await fullmcp(['call', url, 'list_issues']);
    vi.unstubAllEnvs();
    expect(variable.stderr).toContain(
      'refused the token of MCP_TOKEN (401): The token is for another audience',
    );
  });

  it('does not send the user of a server with API keys to a login that is not there', async () => {
    const auth = apiKey({ keys: [{ hash: await hashApiKey('sk-12345678901234567890'), subject: 'ada' }] });
    const url = await served(auth);
    const ran = await fullmcp(['call', url, 'list_issues']);
    expect(ran).toMatchObject({
      exit: 6,
      stderr: `${url} requires authentication (401). Pass a token with --token or MCP_TOKEN, or a key with --header "Name: value".\n`,
    });
    for (const words of [
      ['auth', 'login', url],
      ['info', url],
      ['auth', 'login', url, '--device'],
    ]) {
      const { exit, stderr } = await fullmcp(words);
      expect({ words, exit, stderr }).toEqual({
        words,
        exit: 6,
        stderr: expect.stringMatching(/--token or MCP_TOKEN/),
      });
      expect(stderr).not.toContain('auth login');
    }
    const examined = await fullmcp(['doctor', url, '--json']);
    const { findings: steps } = examined.json<{
      findings: { step: string; status: string; message: string }[];
    }>();
    const auths = steps.filter(({ step }) => step.startsWith('auth'));
    expect(auths.map(({ step, status }) => [step, status])).toEqual([
      ['auth: challenge', 'ok'],
      ['auth: resource', 'skipped'],
      ['auth: token', 'skipped'],
    ]);
    expect(JSON.stringify(auths)).not.toContain('auth login');
  });

  it('has one full stop after the reason of a server in fullmcp doctor', async () => {
    const url = await served(tokens);
    const examined = await fullmcp(['doctor', url, '--token', 'wrong']);
    expect(examined.stdout + examined.stderr).toContain('another audience (aud): zz.');
    expect(examined.stdout + examined.stderr).not.toContain('..\n');
  });
});
