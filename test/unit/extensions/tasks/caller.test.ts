import { createServer, inProcess, McpError, memoryStore, type Store, ToolError, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { describe, expect, it } from 'vitest';
import { modernExchange } from '../../../support/http/modern.js';
import { signal } from '../../../support/signal.js';
import { until } from '../../../support/until.js';

const TASKS = 'io.modelcontextprotocol/tasks';
const capabilities = { extensions: { [TASKS]: {} } };
const auth = { subject: 'ann', scopes: ['issues:write'], claims: { team: 7 } };
const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };

/** A server whose `user` is as strict as the one in the guide, and a tool that runs as a task. */
function strict(store: Store, gate: Promise<unknown> = Promise.resolve(), log = quiet.logger as () => void) {
  const contexts: string[] = [];
  const server = createServer({
    ...quiet,
    logger: log,
    store,
    user: ({ request, auth: caller }) => {
      const name = request?.header('x-account') ?? caller?.subject;
      contexts.push(name ?? 'nobody');
      if (name === undefined) throw new McpError('invalid_request', 'Who are you? Send X-Account.');
      if (name === 'trial') throw new ToolError('Your trial is over.');
      return { name };
    },
    tools: {
      me: tool({ run: (_, ctx) => (ctx.user as { name: string }).name }),
      work: tool({
        task: 'required',
        run: async (_, ctx) => {
          await gate;
          const inner = (await ctx.call('me')).content[0];
          const { name } = ctx.user as { name: string };
          return { user: name, inner: (inner as { text: string }).text, auth: ctx.auth ?? 'nobody' };
        },
      }),
    },
  });
  return { server, contexts };
}

async function post(
  handle: (request: Request) => Promise<Response>,
  method: string,
  params: Record<string, unknown>,
  user?: string,
) {
  const { headers, body } = modernExchange(method, params, {
    meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities },
    headers: { 'x-account': user },
  });
  const present = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  const response = await handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: present as [string, string][],
      body: body as string,
    }),
  );
  return JSON.parse(await response.text());
}

describe('a task of a caller', () => {
  it('has the user of the call that created it, also in the tools that it calls', async () => {
    const { server, contexts } = strict(memoryStore());
    const handle = createHandler(server);
    const { result } = await post(handle, 'tools/call', { name: 'work' }, 'ada');
    expect(result.resultType).toBe('task');
    const get = () => inProcess(server, { capabilities })('tasks/get', { taskId: result.taskId });
    await until('the task is over', async () => (await get())['status'] === 'completed');
    expect(await get()).toMatchObject({
      result: { structuredContent: { user: 'ada', inner: 'ada', auth: 'nobody' } },
    });
    expect(contexts).toEqual(['ada']);
  });

  it('is not created for a caller that the option user rejects', async () => {
    const { server } = strict(memoryStore());
    const handle = createHandler(server);
    expect((await post(handle, 'tools/call', { name: 'work' })).error.message).toBe(
      'Who are you? Send X-Account.',
    );
    expect((await post(handle, 'tools/call', { name: 'work' }, 'trial')).result).toMatchObject({
      isError: true,
      content: [{ text: 'Your trial is over.' }],
    });
  });

  it('knows its caller with scopes and claims, also after a restart, when the option user gets no request', async () => {
    const store = { ...memoryStore(), close: async () => undefined };
    const never = signal();
    const first = strict(store, never.promise);
    const { taskId } = await inProcess(first.server, { caller: auth, capabilities })('tools/call', {
      name: 'work',
    });
    await first.server.close();
    const second = strict(store);
    await second.server.start();
    const get = async () => inProcess(second.server, { caller: auth, capabilities })('tasks/get', { taskId });
    await until('the task is over', async () => (await get())['status'] === 'completed');
    expect(await get()).toMatchObject({
      result: { structuredContent: { user: 'ann', inner: 'ann', auth } },
    });
    // Once for the task, not once for each tool that it calls.
    expect(second.contexts).toEqual(['ann']);
    await second.server.close();
  });

  it('is not created if the caller is larger than a task can store', async () => {
    const logged: string[] = [];
    const { server } = strict(
      memoryStore(),
      undefined,
      ((_: string, __: string, error: Error) => void logged.push(error?.message)) as () => void,
    );
    const large = { ...auth, claims: { text: 'x'.repeat(20_000) } };
    await expect(
      inProcess(server, { caller: large, capabilities })('tools/call', { name: 'work' }),
    ).rejects.toMatchObject({ message: expect.stringContaining('Internal error') });
    expect(logged.join()).toContain('at most 16384 can be stored with a task');
  });
});
