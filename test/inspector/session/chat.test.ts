import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { type ModelScript, type ModelTurn, mockModel } from 'fullmcp/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { Target } from '../../../src/connect/targets/target.js';
import type { ChatCallView, ChatView } from '../../../src/inspector/contract/chat.js';
import type { InspectorOptions } from '../../../src/inspector/contract/options.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { rig } from './rig.js';

const KEY = 'planted-key-of-the-user-5c1d';
const APIS = ['anthropic', 'openai', 'openai-chat'] as const;

function shop(bills: object[] = []) {
  return createServer({
    name: 'shop',
    version: '1.0.0',
    instructions: 'Amounts are in euros.',
    logger: () => undefined,
    tools: {
      bill: tool({
        description: 'Bills a customer.',
        input: z.object({ amount: z.number(), password: z.string().optional() }),
        run: (input) => `bill ${bills.push(input)}`,
      }),
      look: tool({ annotations: { readOnly: true }, run: () => 'nothing to see' }),
      close: tool({
        run: async (_input, ctx) => {
          const { sure } = await ctx.ask('sure', {
            message: 'Really?',
            schema: z.object({ sure: z.boolean() }),
          });
          return sure ? 'closed' : 'open';
        },
      }),
      report: tool({ task: 'required', run: async (_input, ctx) => ctx.step('count', () => '1,240 euros') }),
      wait: tool({
        run: (_input, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new Error('aborted'))),
          ),
      }),
      leak: tool({ run: () => `The key is ${KEY}.` }),
      fail: tool({ run: () => Promise.reject(new Error('disk full')) }),
    },
  });
}

interface Chatting {
  readonly target?: Target;
  readonly api?: (typeof APIS)[number];
  readonly settings?: JsonObject;
  readonly options?: Partial<InspectorOptions>;
}

async function chatting(
  script: ModelScript,
  { target = shop() as Target, api = 'openai-chat', settings = {}, options = {} }: Chatting = {},
) {
  const model = await mockModel(script, { key: KEY });
  onTestFinished(() => model.close());
  vi.stubEnv('CHAT_API_KEY', KEY);
  const own = rig(options);
  onTestFinished(() => own[Symbol.asyncDispose]());
  const connection = await own.connect({ target });
  const begin = { connection, model: `${api}:m@${model.url}`, key: 'CHAT_API_KEY', ...settings };
  await own.raw('beginChat', begin);
  const latest = (): ChatView | undefined => own.inspector.snapshot().chats[0];
  const calls = (): readonly ChatCallView[] =>
    latest()?.entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : [])) ?? [];
  const say = (text: string) => own.run('say', { connection, text });
  return {
    own,
    model,
    connection,
    latest,
    calls,
    say,
    /** The first call that waits for a decision. */
    asked: (tool?: string) =>
      own.until('a call that waits', () =>
        calls().find(({ state, tool: name }) => state === 'asks' && (tool === undefined || name === tool)),
      ),
    decide: ({ id: call, digest }: ChatCallView, decision: 'once' | 'always' | 'decline') =>
      own.run('decideCall', { connection, call, digest, decision }),
    /** Waits for the end of the model's turn, and returns what was said. */
    idle: () =>
      own.until('the end of the turn', () => {
        const chat = latest();
        const isOver =
          chat?.state === 'idle' && chat.entries.at(-1)?.kind !== 'ask' && chat.entries.length > 0;
        return isOver && chat.entries.map((entry) => entry.text);
      }),
    all: () => JSON.stringify([own.events, own.inspector.snapshot(), own.inspector.tape(connection)]),
  };
}

const calling = (name: string, args: object = {}): ModelTurn => ({
  calls: [{ name, args: args as JsonObject }],
});

describe('A chat with a model', () => {
  test.each(APIS)('over %s calls a tool once the user agrees, as a story like any other', async (api) => {
    const bills: object[] = [];
    const chat = await chatting(
      [
        { say: 'One moment.', calls: [{ name: 'bill', args: { amount: 30 } }] },
        ({ results }) => `Done: ${results[0]?.text}`,
        ({ ask }) => `You said ${ask}.`,
      ],
      { api, target: shop(bills), settings: { price: { input: 1, output: 2 } } },
    );
    await chat.say('Bill Ada 30 euros');
    const call = await chat.asked();
    expect(call).toMatchObject({ tool: 'bill', args: '{\n  "amount": 30\n}' });
    expect(bills).toEqual([]);
    await chat.decide(call, 'once');
    expect(await chat.idle()).toEqual(['Bill Ada 30 euros', 'One moment.', 'Done: bill 1']);
    expect(bills).toEqual([{ amount: 30 }]);
    const [made] = chat.calls();
    expect(chat.own.story(made?.story ?? 0)).toMatchObject({
      title: 'bill',
      state: 'ok',
      args: { amount: 30 },
    });
    const { tokens = 0, cost = 0, isEstimate } = chat.latest() ?? {};
    expect([tokens > 0, cost > 0, isEstimate]).toEqual([true, true, false]);
    expect(chat.model.requests[0]?.system).toContain('Amounts are in euros.');
    await chat.say('thanks');
    expect((await chat.idle()).at(-1)).toBe('You said thanks.');
  });

  test('shows the words of a reply while they arrive', async () => {
    const chat = await chatting([{ say: 'word '.repeat(60), pauseMs: 10 }]);
    await chat.say('Talk');
    await chat.idle();
    const partial = chat.own.events.some(
      (event) =>
        event.type === 'chat' &&
        event.chat?.entries.some((entry) => entry.kind === 'reply' && entry.isPartial && entry.text !== ''),
    );
    expect(partial).toBe(true);
  });

  test('does not send what the user declines, and the model is told', async () => {
    const bills: object[] = [];
    const chat = await chatting([calling('bill', { amount: 1 }), ({ results }) => String(results[0]?.text)], {
      target: shop(bills),
    });
    await chat.say('Bill');
    await chat.decide(await chat.asked(), 'decline');
    expect((await chat.idle()).at(-1)).toContain('The user declined this call.');
    expect([bills, chat.calls()[0]?.story]).toEqual([[], undefined]);
  });

  test('asks about each of parallel calls, and about a tool no more if the user says always', async () => {
    const bills: object[] = [];
    const both = { calls: [1, 2].map((amount) => ({ name: 'bill', args: { amount } })) };
    const chat = await chatting([both, calling('bill', { amount: 3 }), 'Done.'], { target: shop(bills) });
    await chat.say('Bill twice');
    const first = await chat.asked();
    expect(chat.calls().map(({ state }) => state)).toEqual(['asks', 'asks']);
    await chat.decide(first, 'decline');
    await chat.decide(await chat.asked(), 'always');
    await chat.idle();
    expect(bills).toEqual([{ amount: 2 }, { amount: 3 }]);
  });

  test('asks about tools that say that they only read, unless the user trusts the server', async () => {
    const asking = await chatting([calling('look'), 'Nothing.']);
    await asking.say('Look');
    await asking.decide(await asking.asked('look'), 'once');
    await asking.idle();
    const trusting = await chatting([calling('look'), calling('bill', { amount: 1 }), 'Nothing.'], {
      settings: { trusts: true },
    });
    await trusting.say('Look');
    await trusting.decide(await trusting.asked('bill'), 'decline');
    await trusting.idle();
    expect(trusting.calls().map(({ state }) => state)).toEqual(['done', 'declined']);
  });

  test('takes a decision only about exactly what was shown, and asks again if the definition has changed', async () => {
    let description = 'Bills a customer.';
    const server = shop();
    const changing = {
      dispatch: async (call: Parameters<typeof server.dispatch>[0]) => {
        const outcome = await server.dispatch(call);
        if (call.method !== 'tools/list') return outcome;
        const tools = (outcome['tools'] as JsonObject[]).map((one) => ({ ...one, description }));
        return { ...outcome, tools };
      },
    };
    const chat = await chatting([calling('bill', { amount: 1 }), 'Done.'], { target: changing as Target });
    await chat.say('Bill');
    const call = await chat.asked();
    await expect(chat.decide({ ...call, digest: 'other' }, 'once')).rejects.toThrow('Look at it again');
    description = 'Deletes everything.';
    await chat.own.run('refresh', { connection: chat.connection });
    await chat.decide(call, 'always');
    const again = await chat.asked();
    expect(again).toMatchObject({ id: call.id, why: expect.stringContaining('has changed') });
    expect(again.digest).not.toBe(call.digest);
    await chat.decide(again, 'once');
    await chat.idle();
    await expect(chat.decide(again, 'once')).rejects.toThrow('waits for no decision');
    expect(chat.calls()[0]?.state).toBe('done');
  });

  test('answers questions in the story, and follows tasks', async () => {
    const chat = await chatting([
      calling('close'),
      calling('report'),
      ({ results }) => `It is ${results[0]?.text}.`,
    ]);
    await chat.say('Close, then report');
    await chat.decide(await chat.asked('close'), 'once');
    const story = await chat.own.until('the story', () => chat.calls()[0]?.story);
    const question = await chat.own.question(story);
    const answer = { action: 'accept', content: { sure: true } };
    await chat.own.run('answer', { story, question: question.id, answer });
    await chat.decide(await chat.asked('report'), 'once');
    expect((await chat.idle()).at(-1)).toContain('1,240 euros');
  });

  test('gives the model the failure of a tool', async () => {
    const chat = await chatting([calling('fail'), ({ results }) => String(results[0]?.text)]);
    await chat.say('Fail');
    await chat.decide(await chat.asked(), 'once');
    expect((await chat.idle()).at(-1)).toMatch(/Internal error|failed/);
  });

  test('does not send calls of tools that are hidden, that are broken, or that nobody can read', async () => {
    const bills: object[] = [];
    const chat = await chatting(
      [
        { calls: [{ name: 'delete_all' }, { name: 'bill', args: '{"amount": ' }] },
        calling('bill', { amount: 1, password: 'x'.repeat(60_000) }),
        calling('bill', { amount: 1, password: KEY }),
        'Done.',
      ],
      { target: shop(bills) },
    );
    await chat.say('Go');
    await chat.idle();
    expect(chat.calls().map(({ state, why }) => [state, why])).toEqual([
      ['refused', 'The server does not offer this tool.'],
      ['refused', 'The arguments are not a JSON object.'],
      ['refused', 'The arguments have more than 50000 characters.'],
      ['refused', 'The arguments have a secret of the inspector in them.'],
    ]);
    expect(bills).toEqual([]);
    expect(chat.all()).not.toContain(KEY);
  });

  test('ends a model that makes the same call without end, and one that never answers', async () => {
    const loop = await chatting(() => calling('look'), { settings: { trusts: true } });
    await loop.say('Loop');
    expect((await loop.idle()).at(-1)).toContain('again and again');
    let count = 0;
    const endless = await chatting(() => calling('look', { count: ++count }), { settings: { trusts: true } });
    await endless.say('Loop');
    expect((await endless.idle()).at(-1)).toContain('10 requests');
    expect(endless.model.requests).toHaveLength(10);
  });

  test('ends when its tokens are used up', async () => {
    const chat = await chatting([{ say: 'One.', usage: { input: 9000, output: 900 } }, 'Two.'], {
      settings: { maxTokens: 12_000 },
    });
    await chat.say('One');
    await chat.idle();
    await chat.say('Two');
    expect((await chat.idle()).at(-1)).toContain('The budget does not allow another request');
    expect(chat.model.requests).toHaveLength(1);
  });

  test('says why a model cannot be asked, without the key, and can be continued', async () => {
    const chat = await chatting([
      { fail: 401, message: `invalid key ${KEY}` },
      ({ ask }) => `You said ${ask.replaceAll('\n', '|')}.`,
    ]);
    await chat.say('Hello');
    expect((await chat.idle()).at(-1)).toContain('answered 401: invalid key');
    await chat.say('Again');
    expect((await chat.idle()).at(-1)).toBe('You said Hello||Again.');
    expect(chat.all()).not.toContain(KEY);
  });
});

describe('Stop', () => {
  test('ends a model that is silent, after which the chat continues', async () => {
    const chat = await chatting([{ hang: true }, 'Back.']);
    await chat.say('Hang');
    await expect.poll(() => chat.model.requests.length).toBe(1);
    await expect(chat.say('More')).rejects.toThrow('has not answered yet');
    await chat.own.run('stopChat', { connection: chat.connection });
    expect((await chat.idle()).at(-1)).toBe('You stopped the model.');
    await chat.say('More');
    expect((await chat.idle()).at(-1)).toBe('Back.');
  });

  test('ends the call that runs and those that wait, and nothing more is sent', async () => {
    const bills: object[] = [];
    const chat = await chatting(
      [{ calls: [{ name: 'wait' }, { name: 'bill', args: { amount: 1 } }] }, 'Never.'],
      { target: shop(bills) },
    );
    await chat.say('Wait');
    await chat.decide(await chat.asked('wait'), 'once');
    const story = await chat.own.until('the story', () => chat.calls()[0]?.story);
    await chat.own.run('stopChat', { connection: chat.connection });
    expect((await chat.own.ended(story)).state).toBe('cancelled');
    await chat.idle();
    expect(chat.calls().map(({ state }) => state)).toEqual(['stopped', 'stopped']);
    expect([bills, chat.model.requests.length]).toEqual([[], 1]);
  });

  test('comes with the end of the connection, and of the chat', async () => {
    const chat = await chatting([calling('bill', { amount: 1 })]);
    await chat.say('Bill');
    await chat.asked();
    await chat.own.run('endChat', { connection: chat.connection });
    expect(await chat.own.until('the end', () => chat.latest() === undefined)).toBe(true);
    await expect(chat.say('More')).rejects.toThrow('no chat');
    expect(chat.own.inspector.snapshot().chats).toEqual([]);
  });
});

describe('The key of a model', () => {
  test('is in nothing that the page gets, also if a server repeats it, and is not sent to the model again', async () => {
    const chat = await chatting([calling('leak'), ({ results }) => `It said ${results[0]?.text}`]);
    await chat.say('Leak');
    await chat.decide(await chat.asked(), 'once');
    await chat.idle();
    expect(chat.all()).not.toContain(KEY);
    const [made] = chat.calls();
    expect(chat.own.inspector.outcome(made?.story ?? 0)).not.toContain(KEY);
    expect(chat.own.inspector.share(made?.story ?? 0)).not.toContain(KEY);
    expect(JSON.stringify(chat.model.requests.map(({ body }) => body))).not.toContain(KEY);
  });

  test.each<[string, JsonObject, string]>([
    ['that is not set', { key: 'OTHER_API_KEY' }, 'Set the environment variable OTHER_API_KEY. Then start'],
    ['that is any variable', { key: 'DATABASE_URL' }, 'ends with _API_KEY'],
    ['of a model that is not one', { model: 'gpt' }, 'does not name a model'],
    [
      'for an address that is not safe',
      { model: 'openai-chat:m@http://example.com' },
      'must begin with https',
    ],
    ['with a limit that is none', { maxTokens: 0 }, 'from 1 to'],
    ['with prices that are none', { price: { input: -1, output: 0 } }, 'prices must be numbers'],
  ])('%s is refused with what to do', async (_what, settings, says) => {
    await expect(chatting(['Hi.'], { settings })).rejects.toThrow(says);
  });
});

describe('A turn of a chat', () => {
  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'chat-cases-'));
    onTestFinished(() => rm(made, { recursive: true }));
    return made;
  }

  test('becomes a case with its calls, the declined tools and the answers, and without secrets', async () => {
    const casesFile = join(await folder(), 'evals.chat.json');
    const chat = await chatting(
      [
        { calls: [{ name: 'bill', args: { amount: 30, password: 'hunter2hunter2' } }, { name: 'look' }] },
        { calls: [{ name: 'close' }, { name: 'fail' }] },
        'Done.',
      ],
      { options: { casesFile } },
    );
    await chat.say(`Bill, close: ${KEY}`);
    await chat.decide(await chat.asked('bill'), 'once');
    await chat.decide(await chat.asked('look'), 'decline');
    await chat.decide(await chat.asked('close'), 'once');
    await chat.decide(await chat.asked('fail'), 'once');
    const story = await chat.own.until('the story', () => chat.calls()[2]?.story);
    const { id: question } = await chat.own.question(story);
    await chat.own.run('answer', { story, question, answer: { action: 'accept', content: { sure: true } } });
    await chat.idle();
    const ask = chat.latest()?.entries[0]?.id ?? 0;
    const where = { connection: chat.connection, ask };
    const { text } = await chat.own.run('chatCase', where);
    const one = {
      ask: 'Bill, close: plan…5c1d',
      expect: [
        { tool: 'bill', args: { amount: 30 } },
        { tool: 'close', args: {} },
      ],
      not: ['look'],
      asks: { sure: { sure: true } },
    };
    expect(JSON.parse(text)).toEqual(one);
    expect(await chat.own.run('saveChatCase', where)).toEqual({ file: 'evals.chat.json' });
    expect(JSON.parse(await readFile(casesFile, 'utf8'))).toEqual({ cases: [one] });
    await expect(chat.own.run('saveChatCase', where)).rejects.toThrow('has a case with this request already');
    await writeFile(casesFile, JSON.stringify({ target: 'other.js', cases: [{ ask: 'x' }] }));
    await expect(chat.own.run('saveChatCase', where)).rejects.toThrow('has the cases of other.js');
    await writeFile(casesFile, '{}');
    await expect(chat.own.run('saveChatCase', where)).rejects.toThrow('evals needs an array');
  });

  test('is only shown where there is no file to write to, and not before the model has answered', async () => {
    const chat = await chatting([calling('look'), 'Done.']);
    await chat.say('Look');
    const call = await chat.asked();
    const where = { connection: chat.connection, ask: chat.latest()?.entries[0]?.id ?? 0 };
    await expect(chat.own.run('chatCase', where)).rejects.toThrow('has not answered yet');
    await chat.decide(call, 'once');
    await chat.idle();
    await expect(chat.own.run('saveChatCase', where)).rejects.toThrow('Copy the case instead');
    expect(JSON.parse((await chat.own.run('chatCase', where)).text)).toMatchObject({
      expect: [{ tool: 'look' }],
    });
  });
});
