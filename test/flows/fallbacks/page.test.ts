import { createServer, McpError, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { textOf, toldIn } from '../../support/fallbacks/host.js';
import { modern } from '../../support/http/modern.js';

// The page that asks, as a browser gets it from a server that knows its callers by a token, and browsers by a cookie.

let running: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  const wipe = tool({
    run: async (_input, ctx) => {
      const schema = z.object({ sure: z.boolean() });
      const { sure } = await ctx.ask('sure', { by: 'user', message: 'Wipe <b>all</b>?', schema });
      return sure ? 'wiped' : 'kept';
    },
  });
  const server = createServer({
    name: 'disk',
    version: '1.0.0',
    secret: 'only for tests, and long enough for that',
    tools: { wipe },
    auth: ({ header }) => {
      const subject =
        header('authorization')?.replace('Bearer ', '') ?? /user=(\w+)/.exec(header('cookie') ?? '')?.[1];
      if (subject === undefined) throw new McpError('unauthorized', 'Who are you?', { challenge: {} });
      return { subject };
    },
    fallbacks: { asking: 'model', page: 'https://disk.example.com/ask' },
  });
  running = await serve(server, { port: 0 });
});

afterAll(() => running.close());

async function call(name: string, args: object) {
  const headers = { authorization: 'Bearer ada' };
  const { text } = await modern(running.url, 'tools/call', { name, arguments: args }, { headers });
  return JSON.parse(text).result;
}

/** Asks, and returns the task with the address of the page on this machine. */
async function asked() {
  const { task, questions } = toldIn(await call('wipe', {}));
  const { pathname, search } = new URL(questions?.['sure']?.link ?? '');
  await call('continue_task', { task, cancel: false });
  return { task, page: new URL(pathname + search, running.url).href };
}

const send = (page: string, cookie?: string) =>
  fetch(page, {
    method: 'POST',
    body: new URLSearchParams({ decision: 'accept', 'f.sure': 'true' }),
    ...(cookie !== undefined && { headers: { cookie } }),
  });

describe('the page over HTTP', () => {
  it('needs no caller, escapes what it shows, and gives a code to a browser that nobody knows', async () => {
    const { task, page } = await asked();
    const form = await fetch(page);
    expect(form.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await form.text()).toContain('Wipe &lt;b&gt;all&lt;/b&gt;?');
    const code = /<code>([\d ]+)<\/code>/.exec(await (await send(page)).text())?.[1];
    expect(textOf(await call('answer_question', { task, question: 'sure', code }))).toBe('wiped');
  });

  it('takes the answer of a browser that is logged in as the caller, and of no other account', async () => {
    const { task, page } = await asked();
    expect((await send(page, 'user=eve')).status).toBe(403);
    expect(await (await send(page, 'user=ada')).text()).toContain('Your answer has arrived');
    expect(textOf(await call('continue_task', { task }))).toBe('wiped');
  });

  it('reads no body that is too large', async () => {
    const { page } = await asked();
    const body = `decision=accept&f.sure=${'x'.repeat(200_000)}`;
    const response = await fetch(page, { method: 'POST', body }).catch(() => undefined);
    expect(response?.status ?? 413).toBeGreaterThanOrEqual(400);
    expect((await fetch(page)).status).toBe(200);
  });

  it('leaves the endpoint as it is', async () => {
    expect((await fetch(running.url, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await fetch(new URL('/ask', running.url))).status).toBe(404);
  });
});
