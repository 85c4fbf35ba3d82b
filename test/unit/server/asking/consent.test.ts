import { createServer, type InProcess, inProcess, inputRequired, type Tool, tool } from 'fullmcp';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

const able = { capabilities: { elicitation: { form: {}, url: {} }, sampling: {} } };
const yes = { action: 'accept', content: { ok: true } };
const ok = z.object({ ok: z.boolean() });

function build(tools: Record<string, Tool>) {
  const log = vi.fn();
  const server = createServer({ name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: log, tools });
  return { log, call: inProcess(server, able) };
}

type Requests = Record<string, { params: { message?: string } }>;

/** Calls again with the answers, and returns the next questions. */
async function round(call: InProcess, previous: object, inputResponses: object, name = 't') {
  const { requestState } = previous as { requestState: string };
  const outcome = await call('tools/call', { name, inputResponses, requestState });
  const requests = (outcome['inputRequests'] ?? {}) as Requests;
  return { outcome, messages: Object.values(requests).map(({ params }) => params.message) };
}

describe('an answer counts only for the question that was shown', () => {
  test('so a yes to 3 files is not a yes to 3000', async () => {
    const deleted: number[] = [];
    let files = 3;
    const { call, log } = build({
      t: tool({
        run: async (_, ctx) => {
          const count = files;
          await ctx.ask('sure', { message: `Delete ${count} files?`, schema: ok });
          return ctx.step('delete', () => deleted.push(count));
        },
      }),
    });
    const first = await call('tools/call', { name: 't' });
    files = 3000;
    const second = await round(call, first, { sure: yes });
    expect(second.messages).toEqual(['Delete 3000 files?']);
    expect(deleted).toEqual([]);
    expect(log.mock.calls).toEqual([
      ['warning', expect.stringMatching(/t has changed "sure" since the client answered.*asked again/)],
    ]);
    await round(call, second.outcome, { sure: yes });
    expect(deleted).toEqual([3000]);
  });

  test('even if it was given rounds ago, and answers to other questions stay valid', async () => {
    let files = 3;
    const { call } = build({
      t: tool({
        run: async (_, ctx) => {
          await ctx.ask('sure', { message: `Delete ${files} files?`, schema: ok });
          await ctx.ask('really', { message: 'Really?', schema: ok });
          return 'done';
        },
      }),
    });
    const first = await call('tools/call', { name: 't' });
    const second = await round(call, first, { sure: yes });
    expect(second.messages).toEqual(['Really?']);
    files = 3000;
    const third = await round(call, second.outcome, { really: yes });
    expect(third.messages).toEqual(['Delete 3000 files?']);
    const fourth = await round(call, third.outcome, { sure: yes });
    expect(fourth.outcome).toMatchObject({ content: [{ text: 'done' }] });
  });

  test.each([
    ['link', { message: 'Pay', url: 'https://a.example/1' }, { message: 'Pay', url: 'https://b.example/1' }],
    [
      'form',
      { message: 'Pay', schema: ok },
      { message: 'Pay', schema: ok.extend({ tip: z.int().default(0) }) },
    ],
  ])('and the %s is part of the question', async (_, before, after) => {
    let question = before;
    const { call } = build({
      t: tool({ run: async (_input, ctx) => (await ctx.elicit('pay', question as never)).action }),
    });
    const first = await call('tools/call', { name: 't' });
    question = after as typeof before;
    const second = await round(call, first, { pay: yes });
    expect(second.outcome.resultType).toBe('input_required');
    const third = await round(call, second.outcome, { pay: yes });
    expect(third.outcome).toMatchObject({ content: [{ text: 'accept' }] });
  });

  test('and a prompt for the model is a question too', async () => {
    let text = 'one';
    const { call } = build({
      t: tool({
        run: async (_, ctx) => (await ctx.sample('s', { messages: text, maxTokens: 5 })).text,
      }),
    });
    const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } };
    const first = await call('tools/call', { name: 't' });
    text = 'two';
    const second = await round(call, first, { s: answer });
    expect(second.outcome.resultType).toBe('input_required');
    const third = await round(call, second.outcome, { s: answer });
    expect(third.outcome).toMatchObject({ content: [{ text: 'yes' }] });
  });

  test('so a question that differs in every run fails after its fourth answer, with an error that names it', async () => {
    let runs = 0;
    const { call } = build({
      t: tool({ run: (_, ctx) => ctx.ask('sure', { message: `It is ${runs++}. Sure?`, schema: ok }) }),
    });
    let outcome: object = await call('tools/call', { name: 't' });
    for (let at = 0; at < 3; at++) outcome = (await round(call, outcome, { sure: yes })).outcome;
    await expect(round(call, outcome, { sure: yes })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/"sure" was answered 4 times/),
    });
  });

  test('so an answer to a question that was not shown is ignored, and the question is asked', async () => {
    const { call } = build({
      t: tool({
        run: async (_, ctx) => {
          await ctx.ask('one', { message: 'One?', schema: ok });
          await ctx.ask('two', { message: 'Two?', schema: ok });
          return 'done';
        },
      }),
    });
    const first = await call('tools/call', { name: 't' });
    const second = await round(call, first, { one: yes, two: yes });
    expect(second.messages).toEqual(['Two?']);
    const third = await round(call, second.outcome, { two: yes });
    expect(third.outcome).toMatchObject({ content: [{ text: 'done' }] });
  });
});

describe('a stored answer', () => {
  test('that no longer fits is discarded: its question is asked again, and the new answer counts', async () => {
    let choices: [string, ...string[]] = ['red', 'green'];
    const { call } = build({
      t: tool({
        run: async (_, ctx) => {
          // The form is the same; only a check that is not visible in the form has changed.
          const schema = z.object({ colour: z.string().refine((colour) => choices.includes(colour)) });
          const { colour } = await ctx.ask('colour', { message: 'Which?', schema });
          await ctx.ask('sure', { message: 'Sure?', schema: ok });
          return colour;
        },
      }),
    });
    const colour = (name: string) => ({ colour: { action: 'accept', content: { colour: name } } });
    const first = await call('tools/call', { name: 't' });
    const second = await round(call, first, colour('red'));
    expect(second.messages).toEqual(['Sure?']);
    choices = ['blue'];
    const third = await round(call, second.outcome, { sure: yes });
    expect(third.messages).toEqual(['Which?']);
    const fourth = await round(call, third.outcome, colour('blue'));
    expect(fourth.outcome).toMatchObject({ content: [{ text: 'blue' }] });
  });

  test('that no longer fits is replaced by a new answer in the same call, without another round', async () => {
    let choices = ['red'];
    const { call } = build({
      t: tool({
        run: async (_, ctx) => {
          const schema = z.object({ colour: z.string().refine((colour) => choices.includes(colour)) });
          const { colour } = await ctx.ask('colour', { message: 'Which?', schema });
          await ctx.ask('sure', { message: 'Sure?', schema: ok });
          return colour;
        },
      }),
    });
    const first = await call('tools/call', { name: 't' });
    const red = { colour: { action: 'accept', content: { colour: 'red' } } };
    const second = await round(call, first, red);
    choices = ['blue'];
    const blue = { colour: { action: 'accept', content: { colour: 'blue' } } };
    const third = await round(call, second.outcome, { ...blue, sure: yes });
    expect(third.outcome).toMatchObject({ content: [{ text: 'blue' }] });
  });

  test('that still fits is not replaced by a later one', async () => {
    const { call } = build({
      t: tool({
        run: async (_, ctx) => {
          const first = await ctx.ask('first', { message: '?', schema: ok });
          await ctx.ask('second', { message: '?', schema: ok });
          return first.ok;
        },
      }),
    });
    const first = await call('tools/call', { name: 't' });
    const second = await round(call, first, { first: yes });
    const no = { action: 'accept', content: { ok: false } };
    const third = await round(call, second.outcome, { first: no, second: yes });
    expect(third.outcome).toMatchObject({ content: [{ text: 'true' }] });
  });
});

describe('the raw form of a question', () => {
  const raw = (request: Parameters<typeof inputRequired>[0][string]) =>
    tool({ run: () => inputRequired({ q: request }) });
  const { call } = build({
    form: raw({ method: 'elicitation/create', params: { message: '?', requestedSchema: {} } }),
    link: raw({
      method: 'elicitation/create',
      params: { mode: 'url', message: '?', url: 'https://a.example' },
    }),
    model: raw({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }),
    tools: raw({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [] } }),
    roots: raw({ method: 'roots/list' }),
  });

  test('is sent if the client declared the capability', async () => {
    for (const name of ['form', 'link', 'model'])
      expect((await call('tools/call', { name })).resultType).toBe('input_required');
  });

  test.each([
    ['tools', { sampling: { tools: {} } }],
    ['roots', { roots: {} }],
  ])('is not sent for %s, which the client did not declare', async (name, requiredCapabilities) => {
    await expect(call('tools/call', { name })).rejects.toMatchObject({
      code: 'missing_capability',
      data: { requiredCapabilities },
    });
  });
});

test('a question that needs an undeclared capability fails with an error that says what to do', async () => {
  const server = createServer({
    name: 'test',
    version: '1',
    logger: () => undefined,
    tools: { t: tool({ run: (_, ctx) => ctx.ask('k', { message: '?', schema: ok }) }) },
  });
  await expect(inProcess(server)('tools/call', { name: 't' })).rejects.toThrow(
    'did not declare: elicitation.form. Give the client a handler for it; with fullmcp: connect(target, { elicit }).',
  );
});

test.each([
  ['ask', (ctx: never) => (ctx as { ask: (q: object) => unknown }).ask({ message: '?', schema: ok })],
  [
    'elicit',
    (ctx: never) => (ctx as { elicit: (q: object) => unknown }).elicit({ message: '?', schema: ok }),
  ],
  ['sample', (ctx: never) => (ctx as { sample: (q: object) => unknown }).sample({ messages: '?' })],
  ['step', (ctx: never) => (ctx as { step: (w: unknown) => unknown }).step(() => 1)],
])('ctx.%s without a key is an error that shows the signature', async (_, use) => {
  const { call } = build({ t: tool({ run: async (_input, ctx) => String(await use(ctx as never)) }) });
  await expect(call('tools/call', { name: 't' })).rejects.toThrow(
    'A question or step needs a key, a non-empty string, as its first argument',
  );
});

test.each([
  ['ask', 'A question needs an object after its key: ctx.ask('],
  ['elicit', 'A question needs an object after its key: ctx.ask('],
  ['sample', 'A question needs an object after its key: ctx.sample('],
  ['step', 'A step needs a function after its key: ctx.step('],
])('ctx.%s with nothing but a key is an error that shows the signature', async (name, sentence) => {
  const { call, log } = build({
    t: tool({
      run: async (_, ctx) =>
        String(await (ctx as unknown as Record<string, (key: string) => unknown>)[name]?.('k')),
    }),
  });
  expect(await call('tools/call', { name: 't' })).toMatchObject({ isError: true });
  expect(log.mock.calls).toEqual([
    ['error', expect.anything(), expect.objectContaining({ message: expect.stringContaining(sentence) })],
  ]);
});
