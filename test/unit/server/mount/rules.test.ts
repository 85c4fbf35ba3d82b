import { createServer, inProcess, type Outcome, tool } from 'fullmcp';
import { policy } from 'fullmcp/middleware';
import { describe, expect, it } from 'vitest';
import { able, accept, waitForStatus } from '../../../support/tasks.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';
const caller = (...scopes: string[]) => ({ caller: { subject: 'ada', scopes, claims: {} } });

function inner(access = {}) {
  return createServer({
    ...quiet,
    name: 'inner',
    access,
    tools: {
      open: tool({ run: () => 'open' }),
      admin: tool({ tags: ['admin'], scopes: ['inner:admin'], run: () => 'admin' }),
      hidden: tool({ allow: () => false, run: () => 'hidden' }),
    },
  });
}

async function visible(server: object, as: object): Promise<unknown[]> {
  const { tools } = await inProcess(server as never, as)('tools/list');
  return (tools as { name: string }[]).map(({ name }) => name);
}

describe('the rules of a mounted server', () => {
  it('and those of the outer one must both be satisfied, in lists and in calls', async () => {
    const main = createServer({
      ...quiet,
      name: 'main',
      access: { tags: { admin: { scopes: ['main:admin'] } } },
      mount: { inner: inner() },
    });
    expect(await visible(main, caller())).toEqual(['inner_open']);
    expect(await visible(main, caller('inner:admin'))).toEqual(['inner_open']);
    expect(await visible(main, caller('inner:admin', 'main:admin'))).toEqual(['inner_open', 'inner_admin']);
    expect(main.scopes).toEqual(['inner:admin', 'main:admin']);
    const half = inProcess(main, caller('inner:admin'));
    await expect(half('tools/call', { name: 'inner_admin' })).rejects.toMatchObject({ code: 'forbidden' });
    const whole = inProcess(main, caller('inner:admin', 'main:admin'));
    expect(textOf(await whole('tools/call', { name: 'inner_admin' }))).toBe('admin');
    await expect(whole('tools/call', { name: 'inner_hidden' })).rejects.toThrow(/Unknown tool: inner_hidden/);
  });

  it('are checked for names and tags of mounted tools', () => {
    const named = policy({ default: 'deny', rules: [{ tools: ['inner_open'], effect: 'allow' }] });
    const access = { ...named, tags: { admin: { scopes: ['a'] } } };
    expect(() => createServer({ ...quiet, name: 'main', access, mount: { inner: inner() } })).not.toThrow();
    const wrong = policy({ default: 'deny', rules: [{ tools: ['inner_opem'], effect: 'allow' }] });
    expect(() => createServer({ ...quiet, name: 'main', access: wrong, mount: { inner: inner() } })).toThrow(
      /inner_opem/,
    );
  });

  it('let both policies ask for approval, each for itself', async () => {
    const approve = [{ effect: 'approve' as const }];
    const asks = policy({ default: 'deny', rules: approve });
    const main = createServer({
      ...quiet,
      name: 'main',
      access: asks,
      mount: { inner: inner(asks) },
    });
    const call = inProcess(main, able);
    const params = { name: 'inner_open' };
    const first = await call('tools/call', params);
    expect(first.resultType).toBe('input_required');
    const answer = (outcome: Outcome) => ({
      ...params,
      requestState: outcome['requestState'],
      inputResponses: Object.fromEntries(
        Object.keys(outcome['inputRequests'] as object).map((key) => [key, accept({ approve: true })]),
      ),
    });
    const second = await call('tools/call', answer(first));
    expect(second.resultType).toBe('input_required');
    expect(Object.keys(second['inputRequests'] as object)).not.toEqual(
      Object.keys(first['inputRequests'] as object),
    );
    expect(textOf(await call('tools/call', answer(second)))).toBe('open');
    const again = await call('tools/call', params);
    const declined = await call('tools/call', {
      ...params,
      requestState: again['requestState'],
      inputResponses: Object.fromEntries(
        Object.keys(again['inputRequests'] as object).map((key) => [key, { action: 'decline' }]),
      ),
    });
    expect(declined['isError']).toBe(true);
  });
});

describe('a mounted tool', () => {
  it('asks, runs steps once, and continues with its answers', async () => {
    let steps = 0;
    const asking = createServer({
      ...quiet,
      name: 'inner',
      tools: {
        order: tool({
          run: async (_input, ctx) => {
            const number = await ctx.step('number', async () => ++steps);
            const { size } = await ctx.ask('size', {
              message: 'Which size?',
              schema: { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] },
            });
            return `${number} ${String(size)}`;
          },
        }),
      },
    });
    const call = inProcess(createServer({ ...quiet, name: 'main', mount: { shop: asking } }), able);
    const first = await call('tools/call', { name: 'shop_order' });
    expect(first.resultType).toBe('input_required');
    const done = await call('tools/call', {
      name: 'shop_order',
      requestState: first['requestState'],
      inputResponses: { size: accept({ size: 'L' }) },
    });
    expect(textOf(done)).toBe('1 L');
    expect(steps).toBe(1);
  });

  it('runs as a task of the outer server', async () => {
    const inner = createServer({
      ...quiet,
      name: 'inner',
      lifespan: async function* () {
        yield { db: 'own' };
      },
      tools: {
        slow: tool({ task: 'required', run: async (_input, ctx) => (ctx.state as { db: string }).db }),
      },
    });
    const main = createServer({ ...quiet, name: 'main', mount: { inner } });
    await main.start();
    const call = inProcess(main, able);
    const { taskId } = await call('tools/call', { name: 'inner_slow' });
    const task = await waitForStatus(call, taskId, 'completed');
    expect(textOf(task['result'] as Outcome)).toBe('own');
    await main.close();
  });
});
