import { createServer, inProcess, inputRequired, McpError, prompt, resource, ToolError, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined, secret: 'x'.repeat(32) };
const able = { capabilities: { elicitation: {}, sampling: {}, roots: {} } };

type Call = ReturnType<typeof inProcess>;
type Answers = (
  requests: Record<string, { method: string; params: Record<string, unknown> }>,
) => Record<string, unknown>;

/** Calls until the outcome is complete, answering as a client would. */
async function drive(call: Call, method: string, params: Record<string, unknown>, answers: Answers) {
  const rounds: string[][] = [];
  let outcome = await call(method, params);
  while (outcome.resultType === 'input_required') {
    const requests = outcome['inputRequests'] as Parameters<Answers>[0];
    rounds.push(Object.keys(requests));
    outcome = await call(method, {
      ...params,
      inputResponses: answers(requests),
      requestState: outcome['requestState'],
    });
  }
  return { outcome, rounds };
}

const accept = (content: unknown) => ({ action: 'accept', content });

describe('a handler that asks', () => {
  it('is replayed: steps run once, and parallel questions go out together', async () => {
    const created = vi.fn(() => ({ id: 'vm-1' }));
    let runs = 0;
    const server = createServer({
      ...quiet,
      tools: {
        deploy: tool({
          run: async (_, ctx) => {
            runs++;
            const who = await ctx.ask('name', {
              message: 'Your name?',
              schema: z.object({ name: z.string() }),
            });
            const vm = await ctx.step('create', created);
            const [size, ok] = await Promise.all([
              ctx.ask('size', { message: 'Size?', schema: z.object({ gb: z.number() }) }),
              ctx.elicit('ok', { message: `Start ${vm.id}?`, schema: z.object({ ok: z.boolean() }) }),
            ]);
            return `${who.name} ${vm.id} ${size.gb} ${ok.action}`;
          },
        }),
      },
    });
    const { outcome, rounds } = await drive(
      inProcess(server, able),
      'tools/call',
      { name: 'deploy' },
      (requests) =>
        Object.fromEntries(
          Object.keys(requests).map((key) => [key, accept({ name: 'Ann', gb: 4, ok: true })]),
        ),
    );
    expect(outcome).toMatchObject({ resultType: 'complete', content: [{ text: 'Ann vm-1 4 accept' }] });
    expect(rounds).toEqual([['name'], ['size', 'ok']]);
    expect(created).toHaveBeenCalledOnce();
    expect(runs).toBe(3);
  });

  it('runs `finally`, and cannot turn the suspension into a result by catching it', async () => {
    const log = vi.fn();
    const cleaned = vi.fn();
    const server = createServer({
      ...quiet,
      logger: log,
      tools: {
        stubborn: tool({
          run: async (_, ctx) => {
            try {
              await ctx.ask('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
              return 'asked';
            } catch {
              return 'caught';
            } finally {
              cleaned();
            }
          },
        }),
      },
    });
    const outcome = await inProcess(server, able)('tools/call', { name: 'stubborn' });
    expect(outcome.resultType).toBe('input_required');
    expect(cleaned).toHaveBeenCalledOnce();
    expect(log).toHaveBeenCalledWith('warning', expect.stringMatching(/stubborn.*"sure"/));
  });

  it('may be a prompt that samples or a resource that asks for roots', async () => {
    const server = createServer({
      ...quiet,
      prompts: {
        p: prompt({
          run: async (_, ctx) => (await ctx.sample('q', { messages: 'Capital?', maxTokens: 10 })).text,
        }),
      },
      resources: {
        'a://b': resource({ read: async (_, ctx) => (await ctx.roots('r')).map(({ uri }) => uri) }),
      },
    });
    const call = inProcess(server, able);
    const answers: Answers = (requests) =>
      'q' in requests
        ? { q: { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' } }
        : { r: { roots: [{ uri: 'file:///x' }] } };
    expect((await drive(call, 'prompts/get', { name: 'p' }, answers)).outcome).toMatchObject({
      messages: [{ content: { text: 'Paris' } }],
    });
    expect((await drive(call, 'resources/read', { uri: 'a://b' }, answers)).outcome).toMatchObject({
      contents: [{ text: '["file:///x"]' }],
    });
  });

  it('accepts answers without a state, asks again if they have another key or do not fit, and rejects answers that are not an object', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        hi: tool({
          run: async (_, ctx) =>
            `Hello, ${(await ctx.ask('who', { message: '?', schema: z.object({ name: z.string() }) })).name}!`,
        }),
      },
    });
    const call = inProcess(server, able);
    const params = { name: 'hi', inputResponses: { who: accept({ name: 'Alice' }), other: 1 } };
    expect(await call('tools/call', params)).toMatchObject({ content: [{ text: 'Hello, Alice!' }] });
    for (const inputResponses of [
      { wrong: accept({ name: 'x' }) },
      { who: 12345 },
      { who: accept({ name: 7 }) },
    ]) {
      expect((await call('tools/call', { name: 'hi', inputResponses })).resultType).toBe('input_required');
    }
    await expect(call('tools/call', { name: 'hi', inputResponses: null })).rejects.toMatchObject({
      code: 'invalid_params',
    });
  });

  it('fails if the client does not support its question', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        s: tool({ run: async (_, ctx) => (await ctx.sample('q', { messages: 'x', maxTokens: 1 })).text }),
      },
    });
    await expect(inProcess(server)('tools/call', { name: 's' })).rejects.toMatchObject({
      code: 'missing_capability',
      data: { requiredCapabilities: { sampling: {} } },
    });
  });

  it('sends no log message or progress twice', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        talk: tool({
          run: async (_, ctx) => {
            ctx.log.info('one');
            ctx.progress(1);
            await ctx.ask('a', { message: '?', schema: z.object({ ok: z.boolean() }) });
            ctx.log.info('two');
            ctx.progress(2);
          },
        }),
      },
    });
    const values: unknown[] = [];
    const call = inProcess(server, { ...able, logLevel: 'info' });
    const listening: Call = (method, params) =>
      call(
        method,
        { ...params, _meta: { progressToken: 1 } },
        { onNotification: (_, params) => void values.push(params?.['data'] ?? params?.['progress']) },
      );
    await drive(listening, 'tools/call', { name: 'talk' }, () => ({ a: accept({ ok: true }) }));
    expect(values).toEqual(['one', 1, 'two', 2]);
  });

  it('sends each log message once if the client changes its log level between rounds', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        talk: tool({
          run: async (_, ctx) => {
            ctx.log.info('one');
            ctx.log.error('two');
            await ctx.ask('a', { message: '?', schema: z.object({ ok: z.boolean() }) });
            ctx.log.info('three');
            ctx.log.error('four');
          },
        }),
      },
    });
    const talk = async (...levels: ('info' | 'error')[]) => {
      const messages: unknown[] = [];
      const listening: Call = (method, params) =>
        inProcess(server, { ...able, logLevel: levels.shift() ?? 'info' })(method, params, {
          onNotification: (_, params) => void messages.push(params?.['data']),
        });
      await drive(listening, 'tools/call', { name: 'talk' }, () => ({ a: accept({ ok: true }) }));
      return messages;
    };
    expect(await talk('info', 'error')).toEqual(['one', 'two', 'four']);
    expect(await talk('error', 'info')).toEqual(['two', 'three', 'four']);
  });

  it('fails with an error that names a key that is used twice or not reached again', async () => {
    let round = 0;
    const schema = z.object({ ok: z.boolean() });
    const server = createServer({
      ...quiet,
      tools: {
        twice: tool({
          run: async (_, ctx) => {
            await ctx.step('a', () => 1);
            await ctx.ask('a', { message: '?', schema });
          },
        }),
        fickle: tool({
          run: async (_, ctx) => (round++ === 0 ? ctx.ask('first', { message: '?', schema }) : 'done'),
        }),
      },
    });
    const call = inProcess(server, able);
    await expect(call('tools/call', { name: 'twice' })).rejects.toMatchObject({
      message: expect.stringContaining('"a"'),
    });
    await expect(drive(call, 'tools/call', { name: 'fickle' }, () => ({}))).rejects.toMatchObject({
      message: expect.stringContaining('"first"'),
    });
  });

  it('does not send the log messages of nested tools again', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        inner: tool({
          run: async (_, ctx) => {
            ctx.log.info('inner before');
            await ctx.ask('ok', { message: '?', schema: z.object({ ok: z.boolean() }) });
            ctx.log.info('inner after');
          },
        }),
        outer: tool({
          run: async (_, ctx) => {
            ctx.log.info('outer before');
            await ctx.call('inner');
            ctx.log.info('outer between');
            await ctx.call('inner');
            ctx.log.info('outer after');
          },
        }),
      },
    });
    const messages: unknown[] = [];
    const call = inProcess(server, { ...able, logLevel: 'info' });
    const listening: Call = (method, request) =>
      call(method, request, {
        onNotification: (kind, params) =>
          void (kind === 'notifications/message' && messages.push(params?.['data'])),
      });
    const { rounds } = await drive(listening, 'tools/call', { name: 'outer' }, (requests) =>
      Object.fromEntries(Object.keys(requests).map((key) => [key, accept({ ok: true })])),
    );
    expect(rounds).toHaveLength(2);
    expect(messages).toEqual([
      'outer before',
      'inner before',
      'inner after',
      'outer between',
      'inner before',
      'inner after',
      'outer after',
    ]);
  });

  it('sends the questions of a nested tool, under a key of their own for each call', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        inner: tool({
          run: async (_, ctx) =>
            (await ctx.ask('n', { message: '?', schema: z.object({ n: z.number() }) })).n,
        }),
        outer: tool({
          run: async (_, ctx) => [
            (await ctx.call('inner')).structuredContent,
            (await ctx.call('inner')).structuredContent,
          ],
        }),
      },
    });
    let next = 0;
    const { outcome, rounds } = await drive(
      inProcess(server, able),
      'tools/call',
      { name: 'outer' },
      (requests) => Object.fromEntries(Object.keys(requests).map((key) => [key, accept({ n: ++next })])),
    );
    expect(outcome).toMatchObject({ content: [{ text: '[1,2]' }] });
    expect(rounds).toEqual([['inner#1/n'], ['inner#2/n']]);
  });

  it('may return inputRequired, and finds its state and the answers in ctx.resumed', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        raw: tool({
          run: (_, { resumed }) =>
            resumed === undefined
              ? inputRequired({ c: { method: 'roots/list' } }, { count: 1 })
              : { state: resumed.state, answers: resumed.answers },
        }),
      },
    });
    const { outcome } = await drive(inProcess(server, able), 'tools/call', { name: 'raw' }, () => ({
      c: { roots: [] },
    }));
    expect(outcome).toMatchObject({
      structuredContent: { state: { count: 1 }, answers: { c: { roots: [] } } },
    });
  });

  it('ends with an error that the model sees if the user declines ctx.ask', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        t: tool({ run: (_, ctx) => ctx.ask('k', { message: '?', schema: z.object({ a: z.string() }) }) }),
      },
    });
    const { outcome } = await drive(inProcess(server, able), 'tools/call', { name: 't' }, () => ({
      k: { action: 'decline' },
    }));
    expect(outcome).toMatchObject({ isError: true, content: [{ text: 'The user declined: k' }] });
  });

  it('may begin questions together and await them one by one', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const ok = { message: '?', schema: z.object({ ok: z.boolean() }) };
    const server = createServer({
      ...quiet,
      tools: {
        asks: tool({
          run: async (_, ctx) => {
            const begun = [
              ctx.elicit('a', ok),
              ctx.ask('b', ok),
              ctx.roots('c'),
              ctx.call('inner'),
              ctx.read('a://b'),
            ];
            for (const answer of begun) await answer;
            return 'done';
          },
        }),
        inner: tool({ run: (_, ctx) => ctx.ask('d', ok) }),
      },
      resources: { 'a://b': resource({ read: async (_, ctx) => String((await ctx.ask('e', ok)).ok) }) },
    });
    const answers: Answers = (requests) =>
      Object.fromEntries(
        Object.keys(requests).map((key) => [key, key === 'c' ? { roots: [] } : accept({ ok: true })]),
      );
    const { outcome, rounds } = await drive(inProcess(server, able), 'tools/call', { name: 'asks' }, answers);
    // Unhandled rejections are reported after the microtasks of a turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(rounds.map((keys) => keys.sort())).toEqual([['a', 'a://b#2/e', 'b', 'c', 'inner#1/d']]);
    expect(outcome).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('asks nothing after it has failed', async () => {
    const ok = { message: '?', schema: z.object({ ok: z.boolean() }) };
    const fail = (error: Error) =>
      tool({ run: (_, ctx) => Promise.all([ctx.ask('a', ok), ctx.step('b', () => Promise.reject(error))]) });
    const server = createServer({
      ...quiet,
      tools: { refuses: fail(new ToolError('Too late')), breaks: fail(new McpError('invalid_params', 'No')) },
    });
    const call = inProcess(server, able);
    expect(await call('tools/call', { name: 'refuses' })).toMatchObject({
      resultType: 'complete',
      isError: true,
      content: [{ text: 'Too late' }],
    });
    await expect(call('tools/call', { name: 'breaks' })).rejects.toMatchObject({ code: 'invalid_params' });
  });

  it('leaves no unhandled rejection if its state is forged while the server cannot open', async () => {
    const server = createServer({
      ...quiet,
      // biome-ignore lint/correctness/useYield: it fails before it could
      lifespan: async function* (): AsyncGenerator<undefined, void, void> {
        throw new Error('not yet');
      },
      tools: { t: tool({ run: () => 'x' }) },
    });
    // Vitest fails the run for an unhandled rejection.
    const call = inProcess(server, able)('tools/call', { name: 't', requestState: 'forged' });
    await expect(call).rejects.toMatchObject({ code: 'internal_error' });
  });
});
