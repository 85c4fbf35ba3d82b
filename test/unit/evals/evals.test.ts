import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import {
  call,
  type EvalCase,
  type EvalModel,
  type EvalReport,
  type EvalsOptions,
  evals,
} from 'fullmcp/evals';
import { type MockModelRequest, type ModelScript, type ModelTurn, mockModel } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

const APIS = ['anthropic', 'openai', 'openai-chat'] as const;
const KEY = 'planted-key-of-the-user-77aa';

/** A shop whose tools ask, take long, and fail. Each run of an eval gets its own. */
function shop() {
  const tickets = new Set(['t1', 't2']);
  return createServer({
    name: 'shop',
    version: '1.0.0',
    instructions: 'Amounts are in euros.',
    tools: {
      create_invoice: tool({
        description: 'Bills a customer.',
        input: z.object({
          amount: z.number(),
          customer: z.string().optional(),
          lines: z.array(z.string()).optional(),
        }),
        run: ({ amount }) => `invoice over ${amount}`,
      }),
      create_quote: tool({
        description: 'Makes an offer.',
        input: z.object({ amount: z.number() }),
        run: () => 'quoted',
      }),
      list_tickets: tool({ description: 'Lists tickets.', run: () => [...tickets].join(' ') || 'none' }),
      close_ticket: tool({
        description: 'Closes a ticket.',
        input: z.object({ id: z.string() }),
        run: async ({ id }, ctx) => {
          const { sure } = await ctx.ask('sure', {
            message: 'Really?',
            schema: z.object({ sure: z.boolean() }),
          });
          return sure && tickets.delete(id) ? `closed ${id}` : 'not closed';
        },
      }),
      report: tool({
        description: 'Makes a long report.',
        task: 'required',
        run: async (_input, ctx) => ctx.step('count', () => '1,240 euros'),
      }),
      fail: tool({ description: 'Fails.', run: () => Promise.reject(new Error('disk full')) }),
    },
  });
}

interface World {
  readonly folder: string;
  readonly requests: readonly MockModelRequest[];
  readonly run: (options?: Parameters<ReturnType<typeof evals>['run']>[0] | object) => Promise<EvalReport>;
}

interface WorldOptions extends EvalsOptions {
  readonly source?: Parameters<typeof evals>[0];
  readonly model?: Partial<EvalModel>;
  readonly record?: boolean;
}

/** Runs cases with a model that does what a script says. */
async function world(
  cases: readonly EvalCase[],
  script: ModelScript,
  { source = shop, model: own, ...options }: WorldOptions = {},
): Promise<World> {
  const model = await mockModel(script, { key: KEY });
  onTestFinished(() => model.close());
  const folder = await mkdtemp(join(tmpdir(), 'evals-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const first: EvalModel = { api: 'openai-chat', model: 'm', url: model.url, key: 'THE_KEY', ...own };
  const suite = evals(source, cases, { runs: 1, models: [first], ...options });
  return {
    folder,
    requests: model.requests,
    run: (more = {}) => suite.run({ tapes: folder, record: true, env: { THE_KEY: KEY }, ...more }),
  };
}

const calls = (...made: readonly [name: string, args?: object][]): ModelTurn => ({
  calls: made.map(([name, args = {}]) => ({ name, args: args as never })),
});

/** Runs one case once, and returns the sentences about what was wrong. */
async function mistakes(
  one: Omit<EvalCase, 'ask'>,
  ...script: readonly ModelTurn[]
): Promise<readonly string[]> {
  const { run } = await world([{ ask: 'Do it', ...one }], script);
  const [model] = (await run()).models;
  const [only] = model?.cases ?? [];
  expect([only?.state, only?.because]).toEqual(['recorded', []]);
  return only?.runs[0]?.problems.map(({ kind, says }) => `${kind}: ${says}`) ?? ['no run'];
}

const BILL = calls(['create_invoice', { amount: 30, customer: 'Ada' }]);

describe('A case', () => {
  it.each<[string, Omit<EvalCase, 'ask'>]>([
    ['the name of a tool', { expect: 'create_invoice' }],
    ['a part of the arguments', { expect: call('create_invoice', { amount: 30 }) }],
    ['exact arguments', { expect: call('create_invoice', { amount: 30, customer: 'Ada' }, { exact: true }) }],
    ['a pattern', { expect: call('create_invoice', { customer: /^ada$/i }) }],
    ['a schema of one argument', { expect: call('create_invoice', { amount: z.number().max(30) }) }],
    ['a schema of all', { expect: call('create_invoice', z.object({ amount: z.literal(30) })) }],
    [
      'a function of one argument',
      { expect: call('create_invoice', { amount: (value: number) => value > 29 }) },
    ],
    ['a function of all', { expect: call('create_invoice', ({ amount }) => amount === 30) }],
    ['forbidden tools', { not: ['create_quote'] }],
    ['the answer', { answer: /^Billed/ }],
    ['a part of the answer', { answer: '30 euros' }],
    ['a function of the answer', { answer: (text) => text.endsWith('.') }],
  ])('passes with %s', async (_what, one) => {
    expect(await mistakes(one, BILL, 'Billed 30 euros.')).toEqual([]);
  });

  it.each<[string, Omit<EvalCase, 'ask'>, string]>([
    [
      'another tool',
      { expect: 'create_quote' },
      'tool: create_quote was not called; the model called create_invoice.',
    ],
    [
      'another value',
      { expect: call('create_invoice', { amount: 31 }) },
      'arguments: create_invoice: amount is 30; 31 was expected.',
    ],
    [
      'a missing value',
      { expect: call('create_invoice', { due: 'now' }) },
      'arguments: create_invoice: due is missing; "now" was expected.',
    ],
    [
      'a string for a number',
      { expect: call('create_invoice', { amount: '30' }) },
      'arguments: create_invoice: amount is 30; "30" was expected.',
    ],
    [
      'one argument too many',
      { expect: call('create_invoice', { amount: 30 }, { exact: true }) },
      'arguments: create_invoice: customer is "Ada", and was not expected.',
    ],
    [
      'a pattern that does not match',
      { expect: call('create_invoice', { customer: /bob/ }) },
      'arguments: create_invoice: customer is "Ada", which does not match /bob/.',
    ],
    [
      'a function that says no',
      { expect: call('create_invoice', () => false) },
      'arguments: create_invoice: The arguments are {"amount":30,"customer":"Ada"}, which the function of the case rejects.',
    ],
    [
      'a forbidden tool',
      { not: ['create_invoice'] },
      'forbidden: create_invoice was called, which the case forbids.',
    ],
    [
      'a call where none is expected',
      { expect: [] },
      'tool: create_invoice was called, and no call was expected.',
    ],
    ['another answer', { answer: /paid/ }, 'answer: The answer is "Billed 30 euros.", without /paid/.'],
    [
      'a question that was not asked',
      { asks: { sure: true } },
      'question: The question "sure" was not asked.',
    ],
  ])('fails with %s', async (_what, one, says) => {
    expect(await mistakes(one, BILL, 'Billed 30 euros.')).toEqual([says]);
  });

  it('fails with a schema that an argument does not match', async () => {
    const [says] = await mistakes(
      { expect: call('create_invoice', { amount: z.number().max(5) }) },
      BILL,
      'ok',
    );
    expect(says).toMatch(/^arguments: create_invoice: amount is 30, which does not match the schema: /);
  });

  it('compares the order of calls, unless any order will do', async () => {
    const script = [calls(['close_ticket', { id: 't1' }]), calls(['list_tickets']), 'done'] as const;
    const expected = { expect: [call('list_tickets'), call('close_ticket')], asks: { sure: true } };
    expect(await mistakes(expected, ...script)).toEqual(['order: close_ticket was called, but too early.']);
    expect(await mistakes({ ...expected, anyOrder: true }, ...script)).toEqual([]);
    expect(
      await mistakes({ expect: ['list_tickets', 'list_tickets'] }, calls(['list_tickets']), 'x'),
    ).toEqual(['tool: list_tickets was not called as often as expected; the model called list_tickets.']);
  });

  it('answers the questions of the server, and fails if one has no answer or a wrong one', async () => {
    const script = [
      calls(['close_ticket', { id: 't1' }]),
      ({ results }: MockModelRequest) => String(results[0]?.text),
    ];
    const closed = await world([{ ask: 'a', asks: { sure: true }, answer: 'closed t1' }], script);
    expect((await closed.run()).ok).toBe(true);
    for (const asks of [{}, { sure: 'maybe' }]) {
      const open = await world([{ ask: 'a', asks }], script);
      const [only] = (await open.run()).models[0]?.cases ?? [];
      expect(only?.runs[0]?.problems[0]?.says).toContain('The server asked sure');
    }
  });

  it('waits for tasks, and gives the model the result', async () => {
    const { run, requests } = await world(
      [{ ask: 'Report', expect: 'report', answer: '1,240' }],
      [calls(['report']), ({ results }) => `It is ${results[0]?.text}.`],
    );
    expect((await run()).ok).toBe(true);
    expect(requests).toHaveLength(2);
  });

  it('makes parallel calls in their order', async () => {
    const script = [calls(['list_tickets'], ['create_invoice', { amount: 1 }]), 'done'];
    const { run, requests } = await world([{ ask: 'a', expect: ['list_tickets', 'create_invoice'] }], script);
    expect((await run()).ok).toBe(true);
    expect(requests[1]?.results.map(({ text }) => text)).toEqual(['t1 t2', 'invoice over 1']);
  });

  it('tells the model of a tool that fails, without the words of the error', async () => {
    const { run, requests } = await world([{ ask: 'a', expect: 'fail' }], [calls(['fail']), 'It failed.']);
    expect((await run()).ok).toBe(true);
    expect(requests[1]?.results[0]).toMatchObject({ isError: true });
    expect(requests[1]?.results[0]?.text).not.toContain('disk full');
  });

  it('fails if the model asks for a tool that is not offered, and sends nothing to the server', async () => {
    const script = [calls(['close_ticket', { id: 't1' }], ['drop_tables']), 'done'];
    const { run } = await world([{ ask: 'a', tools: ['list_tickets'] }], script);
    const [only] = (await run()).models[0]?.cases ?? [];
    expect(only?.runs[0]?.problems.map(({ says }) => says)).toEqual([
      'close_ticket was called, which was not offered.',
      'drop_tables was called, which was not offered.',
    ]);
  });

  it.each([
    [
      'arguments that are not JSON',
      { calls: [{ name: 'list_tickets', args: '{"id": ' }] },
      'malformed: The arguments of list_tickets are not a JSON object: {"id": ',
    ],
    [
      'a call in its words',
      '<tool_call>{"name":"list_tickets","arguments":{}}</tool_call>',
      'malformed: The model wrote a call into its answer: <tool_call>{"name":"list_tickets","arguments":{}}</tool_call>',
    ],
    ['a refusal', { say: 'No.', stop: 'content_filter' }, 'end: The model refused to answer.'],
    [
      'a reply that is cut off',
      { say: 'Well', stop: 'length' },
      'end: The reply of the model was cut off, because it has too many tokens. Raise "maxTokens" of the model.',
    ],
  ] as [string, ModelTurn, string][])('fails with %s', async (_what, turn, says) => {
    expect((await mistakes({}, turn, 'done')).map((one) => one.trim())).toContain(says.trim());
  });

  it('ends a model that repeats a call, and one that makes calls without end', async () => {
    const same = await world([{ ask: 'a' }], () => calls(['list_tickets']));
    expect((await same.run()).models[0]?.cases[0]?.runs[0]?.problems[0]?.says).toContain(
      'repeated the same call',
    );
    expect(same.requests).toHaveLength(4);
    let amount = 0;
    const other = await world([{ ask: 'a' }], () => calls(['create_invoice', { amount: ++amount }]), {
      maxRounds: 6,
    });
    expect((await other.run()).models[0]?.cases[0]?.runs[0]?.problems[0]?.says).toContain('without end');
    expect(other.requests).toHaveLength(6);
  });

  it('is judged by a second model only if it wants to be', async () => {
    const script: ModelScript = ({ system }) =>
      system.startsWith('You judge') ? 'FAIL\nIt is rude.' : 'Go away.';
    const judge = await mockModel(script);
    onTestFinished(() => judge.close());
    const { run, requests } = await world([{ ask: 'a', judge: 'It is polite.' }, { ask: 'b' }], script, {
      judge: { api: 'anthropic', model: 'j', url: judge.url },
    });
    const [first, second] = (await run()).models[0]?.cases ?? [];
    expect([first?.runs[0]?.problems[0]?.says, second?.ok]).toEqual(['The judge says: It is rude.', true]);
    expect([requests.length, judge.requests.length]).toEqual([2, 1]);
  });

  it('passes if the share of runs passes that it needs', async () => {
    const script = Array.from({ length: 10 }, (_, at) => (at % 5 === 0 ? 'No.' : 'Yes.'));
    const { run } = await world(
      [
        { ask: 'a', answer: 'Yes', runs: 5, need: 0.8 },
        { ask: 'b', answer: 'Yes', runs: 5 },
      ],
      script,
      {
        concurrency: 1,
      },
    );
    const [first, second] = (await run()).models[0]?.cases ?? [];
    expect([first?.passed, first?.ok, second?.passed, second?.ok]).toEqual([4, true, 4, false]);
    expect(first?.interval.low).toBeCloseTo(0.376, 2);
  });

  it.each([
    [[], 'an array of 1 to'],
    [[{ ask: '' }], '"cases[0].ask" is empty.'],
    [[{ ask: 'a', expects: 'b' }], '"cases[0].expects" is unknown.'],
    [[{ ask: 'a' }, { ask: 'a' }], 'the name "a" of another case'],
    [[{ ask: 'a', expect: [17] }], '"cases[0].expect" must be names of tools'],
  ])('has checked fields: %j', (cases, says) => {
    expect(() => evals(shop, cases as never)).toThrow(says);
  });
});

describe.each(APIS)('A suite with a model over %s', (api) => {
  const cases: EvalCase[] = [
    { ask: 'Bill Ada 30 euros', expect: call('create_invoice', { amount: 30 }), not: ['create_quote'] },
    { ask: 'Close t1', expect: ['list_tickets', 'close_ticket'], asks: { sure: true }, answer: 'closed' },
  ];
  const script: ModelScript = ({ ask, results }) => {
    if (ask.startsWith('Bill')) return results.length > 0 ? 'Done.' : BILL;
    if (results.length === 0) return calls(['list_tickets']);
    return results[0]?.text.startsWith('closed') ? 'It is closed.' : calls(['close_ticket', { id: 't1' }]);
  };

  it('is recorded, and then replayed without any request and without a key', async () => {
    const { run, requests, folder } = await world(cases, script, { model: { api }, runs: 2 });
    const recorded = await run();
    expect([recorded.ok, recorded.mode, requests.length]).toEqual([true, 'recorded', 10]);
    const replayed = await run({ record: false, env: {} });
    expect([replayed.ok, replayed.mode, requests.length]).toEqual([true, 'replayed', 10]);
    expect(replayed.models[0]?.cases.map(({ state, passed }) => [state, passed])).toEqual([
      ['fresh', 2],
      ['fresh', 2],
    ]);
    expect(replayed.models[0]?.usage).toEqual(recorded.models[0]?.usage);
    expect(replayed.spent.tokens).toBe(0);
    const tape = await readFile(join(folder, 'm.tape.jsonl'), 'utf8');
    expect(tape).not.toContain(KEY);
    // Recorded once more, nothing is asked, because everything is fresh.
    expect((await run()).ok).toBe(true);
    expect(requests.length).toBe(10);
  });
});

describe('A plan of a recording', () => {
  it('says what it would take, without a key and without a request, and leaves out what is fresh', async () => {
    const price = { input: 1, output: 10 };
    const cases: EvalCase[] = [{ ask: 'Bill Ada 30 euros' }, { ask: 'b', tools: ['create_quote'], runs: 2 }];
    const { run, requests } = await world(cases, () => 'Done.', {
      model: { price, maxTokens: 100 },
      maxRounds: 3,
    });
    const dry = { dry: true, env: {} };
    const { ok, mode, plan, spent } = await run(dry);
    expect([ok, mode, requests.length, spent.tokens]).toEqual([true, 'planned', 0, 0]);
    const [only] = plan ?? [];
    expect(only).toMatchObject({ name: 'm', conversations: 3, requests: [3, 9] });
    const [[least, most] = [0, 0], [cheapest, dearest] = [0, 0]] = [only?.tokens, only?.cost];
    // Three requests have the first one three times, the replies before, and their own.
    expect(most).toBe(3 * least + 3 * 300 + 3 * 300);
    expect(cheapest).toBeCloseTo(least / 1e6);
    expect(dearest).toBeCloseTo((most - 900 + 900 * 10) / 1e6);
    await run();
    expect(requests).toHaveLength(3);
    expect((await run(dry)).plan?.[0]).toMatchObject({ conversations: 0, requests: [0, 0], tokens: [0, 0] });
    expect((await run({ ...dry, again: true, runs: 5 })).plan?.[0]?.conversations).toBe(10);
  });
});

describe('A tape', () => {
  const one: EvalCase = { ask: 'Bill Ada 30 euros', expect: call('create_invoice', { amount: 30 }) };
  const script: ModelScript = ({ results }) => (results.length > 0 ? 'Done.' : BILL);

  it('is judged anew when only an expectation changed', async () => {
    const { run, folder } = await world([one], script);
    await run();
    const changed = evals(shop, [{ ...one, expect: call('create_invoice', { amount: 31 }) }]);
    const [only] = (await changed.run({ tapes: folder })).models[0]?.cases ?? [];
    expect([only?.state, only?.ok]).toEqual(['fresh', false]);
  });

  it.each<[string, () => ReturnType<typeof evals>, string]>([
    ['the case', () => evals(shop, [{ ...one, name: one.ask, ask: 'Bill Ada 31 euros' }]), 'the case'],
    ['an answer to a question', () => evals(shop, [{ ...one, asks: { sure: true } }]), 'the case'],
    [
      'the system prompt',
      () => evals(shop, [one], { system: 'Be rude.' }),
      'the system prompt or the instructions of the server',
    ],
  ])('is stale when %s changed', async (_what, suite, because) => {
    const { run, folder } = await world([one], script);
    await run();
    const [only] = (await suite().run({ tapes: folder })).models[0]?.cases ?? [];
    expect([only?.state, only?.because, only?.ok]).toEqual(['stale', [because], false]);
  });

  it('reports cases that it does not have, and loses no others when some are recorded again', async () => {
    const { run, folder } = await world([one, { ask: 'b' }], script);
    await run({ only: ['b'] });
    const before = await run({ record: false });
    expect(before.models[0]?.cases.map(({ state }) => state)).toEqual(['missing', 'fresh']);
    await run({ only: [one.ask] });
    expect((await run({ record: false })).models[0]?.cases.map(({ state }) => state)).toEqual([
      'fresh',
      'fresh',
    ]);
    expect((await readFile(join(folder, 'm.tape.jsonl'), 'utf8')).split('\n')).toHaveLength(5);
  });

  it('keeps the old answers if the model cannot be asked again', async () => {
    const { run, folder } = await world([one], [BILL, 'Done.', { fail: 401, message: 'no' }]);
    await run();
    const before = await readFile(join(folder, 'm.tape.jsonl'), 'utf8');
    const failed = await run({ again: true });
    expect([failed.ok, failed.models[0]?.cases[0]?.state]).toEqual([false, 'failed']);
    expect(failed.models[0]?.cases[0]?.because[0]).toContain('answered 401');
    expect(await readFile(join(folder, 'm.tape.jsonl'), 'utf8')).toBe(before);
  });

  it.each([
    { what: 'stays away', states: ['failed', 'failed', 'failed'], asked: 1, ok: false },
    { what: 'comes back', states: ['recorded', 'recorded', 'recorded'], asked: 3, ok: true },
  ])(
    'whose folder $what after the first answer: nothing is paid for that cannot be kept',
    async ({ what, states, asked, ok }) => {
      const cases = ['a', 'b', 'c'].map((ask) => ({ ask }));
      const { run, folder, requests } = await world(
        cases,
        () => {
          if (requests.length === 1) {
            rmSync(folder, { recursive: true });
            writeFileSync(folder, 'in the way');
          }
          return 'Done.';
        },
        { concurrency: 1 },
      );
      const report = await run({
        onProgress: ({ done }: { readonly done: number }) => {
          if (what === 'comes back' && done === 1) rmSync(folder);
        },
      });
      const found = report.models[0]?.cases ?? [];
      expect([report.ok, requests.length, found.map(({ state }) => state)]).toEqual([ok, asked, states]);
      const says = ok ? [] : [expect.stringMatching(/^The tape cannot be written: .*evals-/)];
      expect(found.map(({ because }) => because)).toEqual([says, says, says]);
    },
  );

  it.each([
    ['another file', '{"hello":1}\n', 'Line 1 is not the header'],
    ['a merge conflict', '<<<<<<< HEAD\n', 'Line 3'],
    [
      'a run without its offer',
      '{"case":"x","run":1,"offer":"none","rounds":[],"asked":[],"unanswered":[]}\n',
      'Line 3',
    ],
  ])('that is %s is an error that names the file and the line', async (_what, text, says) => {
    const { run, folder } = await world([one], script);
    await run();
    const path = join(folder, 'm.tape.jsonl');
    const [header, offer] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, says.startsWith('Line 1') ? text : `${header}\n${offer}\n${text}`);
    await expect(run({ record: false })).rejects.toThrow(`m.tape.jsonl is not a tape of evals. ${says}`);
  });

  it('has no secrets of the server: a marked field is removed from calls and results', async () => {
    const secret = 'hunter2-hunter2';
    const source = () =>
      createServer({
        name: 's',
        version: '1.0.0',
        tools: {
          log_in: tool({ input: z.object({ password: z.string() }), run: () => `password=${secret}` }),
        },
      });
    const { run, folder } = await world(
      [{ ask: 'a', expect: call('log_in', { password: secret }) }],
      [calls(['log_in', { password: secret }]), `Logged in with ${secret}`],
      { source },
    );
    const report = await run();
    const tape = await readFile(join(folder, 'm.tape.jsonl'), 'utf8');
    expect(tape).toContain('log_in');
    expect(`${tape} ${JSON.stringify(report)}`).not.toContain(secret);
    expect(report.ok).toBe(true);
  });
});

describe('A budget', () => {
  const cases = Array.from({ length: 12 }, (_, at): EvalCase => ({ ask: `Case ${at}` }));

  it.each([1, 8])('of tokens is never exceeded with %i conversations at a time', async (concurrency) => {
    const tokens = 40_000;
    const usage = { input: 3000, output: 500 };
    const { run } = await world(cases, () => ({ say: 'ok', usage }), { concurrency, budget: { tokens } });
    const report = await run();
    const states = report.models[0]?.cases.map(({ state }) => state) ?? [];
    expect(report.spent.tokens).toBeLessThanOrEqual(tokens);
    expect(states.filter((state) => state === 'recorded').length).toBeGreaterThanOrEqual(5);
    expect(states.filter((state) => state === 'skipped').length).toBeGreaterThanOrEqual(1);
    expect(report.models[0]?.cases.find(({ state }) => state === 'skipped')?.because[0]).toContain(
      'The budget does not allow another request',
    );
    expect(report.ok).toBe(false);
  });

  it('counts the most that a reply can have cost if the API does not say', async () => {
    const { run } = await world(cases, () => ({ say: 'ok', usage: false }), {
      budget: { tokens: 20_000 },
      concurrency: 6,
    });
    const { spent } = await run();
    expect(spent.isEstimate).toBe(true);
    expect(spent.tokens).toBeLessThanOrEqual(20_000);
    expect(spent.tokens).toBeGreaterThan(10_000);
  });

  it('of money needs prices, and is never exceeded', async () => {
    const price = { input: 3, output: 15 };
    const free = await world(cases, () => 'ok', { budget: { cost: 1 } });
    await expect(free.run()).rejects.toThrow('needs the prices of m');
    const { run } = await world(cases, () => ({ say: 'ok', usage: { input: 5000, output: 100 } }), {
      model: { price },
      budget: { cost: 0.2 },
      concurrency: 5,
    });
    const report = await run();
    expect(report.spent.cost).toBeLessThanOrEqual(0.2);
    expect(report.models[0]?.cost).toBeCloseTo(report.spent.cost ?? 0, 6);
    expect(report.models[0]?.cases.some(({ state }) => state === 'skipped')).toBe(true);
  });

  it('of time ends a model that hangs', async () => {
    const { run } = await world(cases, () => ({ hang: true }), { budget: { ms: 100 } });
    const report = await run();
    expect(new Set(report.models[0]?.cases.map(({ state }) => state))).toEqual(new Set(['skipped']));
    expect(report.models[0]?.cases[0]?.because).toEqual(['The time of 100 ms is over.']);
  });
});

describe('Several models', () => {
  it('are asked side by side, each with its tape', async () => {
    const good = await mockModel(({ results }) => (results.length > 0 ? 'Done.' : BILL));
    const bad = await mockModel(() => 'I cannot.');
    onTestFinished(async () => void (await Promise.all([good.close(), bad.close()])));
    const folder = await mkdtemp(join(tmpdir(), 'evals-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const suite = evals(shop, [{ ask: 'Bill', expect: 'create_invoice' }], {
      models: [
        { name: 'good', api: 'anthropic', model: 'm', url: good.url },
        { name: 'bad/../one', api: 'openai', model: 'm', url: bad.url },
      ],
    });
    const recorded = await suite.run({ tapes: folder, record: true });
    expect(recorded.models.map(({ name, score }) => [name, score.share])).toEqual([
      ['good', 1],
      ['bad/../one', 0],
    ]);
    // Without their options, the models that have tapes are reported.
    const later = await evals(shop, [{ ask: 'Bill', expect: 'create_invoice' }]).run({ tapes: folder });
    expect(later.models.map(({ name, cases }) => [name, cases[0]?.state])).toEqual([
      ['bad/../one', 'fresh'],
      ['good', 'fresh'],
    ]);
  });

  it('that nobody names are an error that says what to do', async () => {
    const suite = evals(shop, [{ ask: 'a' }]);
    await expect(suite.run({ tapes: '/nowhere' })).rejects.toThrow('fullmcp eval --record --model');
    await expect(suite.run({ tapes: '/nowhere', record: true })).rejects.toThrow('Add "models"');
    await expect(
      suite.run({ tapes: '/nowhere', record: true, models: ['anthropic:m'], env: {} }),
    ).rejects.toThrow('Set the environment variable ANTHROPIC_API_KEY');
    await expect(suite.run({ tapes: '/nowhere', only: ['b'] })).rejects.toThrow('No case is called "b"');
  });
});
