import { createServer, type FallbacksOptions, inProcess, type Server, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hostOf, textOf, toldIn } from '../../../support/fallbacks/host.js';
import { modern } from '../../../support/http/modern.js';
import { until } from '../../../support/until.js';

function shop(fallbacks: object = { tasks: { after: 1 }, asking: 'model' }) {
  const runs: unknown[] = [];
  let free!: () => void;
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const order = tool({
    task: 'optional',
    input: z.object({ item: z.string() }),
    run: async ({ item }) => {
      runs.push(item);
      await freed;
      return `ordered ${item}`;
    },
  });
  const name = tool({
    run: async (_input, ctx) =>
      (await ctx.ask('name', { message: 'Who?', schema: z.object({ name: z.string() }) })).name,
  });
  const server: Server = createServer({ name: 'shop', version: '1.0.0', tools: { order, name }, fallbacks });
  return { server, runs, free };
}

describe('a client with a false name', () => {
  it('gains nothing', async () => {
    const { server, free } = shop();
    const { task } = toldIn(await hostOf(server).call('order', { item: 'a' }));
    for (const name of ['claude-code', 'Visual Studio Code', 'openai-mcp', '__proto__', 'x'.repeat(10_000)]) {
      const eve = hostOf(server, { name, caller: 'eve' });
      expect(textOf(await eve.call('continue_task', { task }))).toContain('There is no task');
      // It declares nothing, so no row gives it anything.
      const { tools } = await eve.request('tools/list');
      expect((tools as { name: string }[]).map((each) => each.name)).toContain('continue_task');
    }
    free();
  });

  it('loses what the host of that name does not do', async () => {
    const { server } = shop({ asking: 'model' });
    const asking = { capabilities: { elicitation: {} }, caller: 'eve' };
    const honest = await hostOf(server, { ...asking, name: 'eve' }).call('name');
    expect(honest['resultType']).toBe('input_required');
    const lying = await hostOf(server, { ...asking, name: 'Anthropic/ClaudeAI' }).call('name');
    expect(toldIn(lying).status).toBe('input_required');
    expect(lying['resultType']).toBe('complete');
  });
});

describe('a client with the name of a host that cancels questions by itself', () => {
  const page = 'https://shop.example.com/ask';

  it.each<[where: string, fallbacks: FallbacksOptions, says: string]>([
    ['to the page', { asking: 'model', page }, 'Only the user can answer'],
    ['to nobody without a page', { asking: 'model' }, 'this application cannot ask'],
    ['to nobody without another way', { tasks: {} }, 'this application cannot ask'],
  ])(
    'sends a question for the user %s, and its model does not answer it',
    async (_where, fallbacks, says) => {
      const effects: string[] = [];
      const wipe = tool({
        run: async (_input, ctx) => {
          const schema = z.object({ sure: z.boolean() });
          const { sure } = await ctx.ask('sure', { by: 'user', message: 'Wipe it?', schema });
          if (sure) effects.push('wiped');
          return 'done';
        },
      });
      const secret = 'only for tests, and long enough for that';
      const server = createServer({ name: 'disk', version: '1.0.0', secret, tools: { wipe }, fallbacks });
      const eve = hostOf(server, { name: 'claude-code', capabilities: { elicitation: {} }, caller: 'eve' });
      const params = { name: 'wipe', arguments: {} };
      const { requestState } = await eve.request('tools/call', params);
      const inputResponses = { sure: { action: 'cancel' } };
      const outcome = await eve.request('tools/call', { ...params, requestState, inputResponses });
      expect(textOf(outcome)).toContain(says);
      const { task } = toldIn(outcome);
      if (task !== undefined)
        await eve.call('answer_question', { task, question: 'sure', answer: { sure: true } });
      expect(effects).toEqual([]);
    },
  );
});

describe('the operator', () => {
  it('overrules the table', async () => {
    const hosts = { 'Anthropic/ClaudeAI': { asks: true }, mine: { asks: false } };
    const { server } = shop({ asking: 'model', hosts });
    const asked = async (name: string) =>
      (await hostOf(server, { name, capabilities: { elicitation: {} } }).call('name'))['resultType'];
    expect(await asked('Anthropic/ClaudeAI')).toBe('input_required');
    expect(await asked('mine')).toBe('complete');
  });
});

describe('a state that a client has made', () => {
  it('does not reach the task of another caller', async () => {
    const { server } = shop();
    const { task } = toldIn(await hostOf(server).call('name'));
    const eve = inProcess(server, { caller: { subject: 'eve' }, capabilities: {} });
    const inputResponses = { name: { action: 'accept', content: { name: 'Eve' } } };
    for (const requestState of [`task.${task}`, 'task.', 'task.__proto__']) {
      const params = { name: 'order', arguments: { item: 'x' }, requestState, inputResponses };
      const outcome = await eve('tools/call', params).catch((error: Error) => ({ error: error.message }));
      expect(JSON.stringify(outcome)).toMatch(/Unknown task|There is no task|rejected/);
    }
    expect(toldIn(await hostOf(server).call('continue_task', { task })).status).toBe('input_required');
  });
});

describe('a flood of continue_task', () => {
  it('waits with a few calls of a caller, answers the others at once, and leaves nothing behind', async () => {
    const { server, free } = shop();
    const host = hostOf(server);
    const { task } = toldIn(await host.call('order', { item: 'a' }));
    let answered = 0;
    const calls = Array.from({ length: 500 }, async () => {
      const outcome = await host.call('continue_task', { task });
      answered++;
      return outcome;
    });
    await until('all but a few calls are answered', () => answered >= 500 - 16);
    expect(answered).toBe(500 - 16);
    free();
    const outcomes = await Promise.all(calls);
    expect(outcomes.filter((outcome) => textOf(outcome) === 'ordered a')).toHaveLength(16);
    expect(outcomes.filter((outcome) => toldIn(outcome).task === task)).toHaveLength(500 - 16);
  });

  it('does not keep another caller from waiting', async () => {
    const { server, free } = shop();
    const [ada, bob] = [hostOf(server), hostOf(server, { caller: 'bob' })];
    const one = toldIn(await ada.call('order', { item: 'a' })).task;
    const two = toldIn(await bob.call('order', { item: 'b' })).task;
    const flood = Array.from({ length: 100 }, () => ada.call('continue_task', { task: one }));
    const waiting = bob.call('continue_task', { task: two });
    free();
    expect(textOf(await waiting)).toBe('ordered b');
    await Promise.all(flood);
  });
});

describe('arguments of the two tools', () => {
  it.each([
    ['continue_task', {}],
    ['continue_task', { task: 7 }],
    ['continue_task', { task: '../../etc' }],
    ['continue_task', { task: 'a'.repeat(100_000), cancel: 'yes' }],
    ['answer_question', { task: 'x', question: '__proto__' }],
    ['answer_question', { question: 'name', answer: 7 }],
  ])('of %s that are wrong (%j) fail in words', async (name, args) => {
    const outcome = await hostOf(shop().server).call(name, args);
    expect(outcome['isError']).toBe(true);
    expect(textOf(outcome).length).toBeLessThan(500);
  });

  it('find no question that an object has by nature', async () => {
    const host = hostOf(shop().server);
    const { task } = toldIn(await host.call('name'));
    const outcome = await host.call('answer_question', { task, question: 'constructor', answer: {} });
    expect(toldIn(outcome).status).toBe('input_required');
  });
});

describe('anonymous callers over HTTP', () => {
  it('do not share a task', async () => {
    const { server, runs, free } = shop();
    const running = await serve(server, { port: 0 });
    try {
      const params = { name: 'order', arguments: { item: 'a' } };
      const replies = await Promise.all([
        modern(running.url, 'tools/call', params),
        modern(running.url, 'tools/call', params),
      ]);
      const tasks = replies.map(({ text }) => toldIn(JSON.parse(text).result).task);
      expect(new Set(tasks).size).toBe(2);
      expect(runs).toEqual(['a', 'a']);
    } finally {
      free();
      await running.close();
    }
  });
});
