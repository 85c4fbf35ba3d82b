import {
  createServer,
  type InProcess,
  inProcess,
  inputRequired,
  memoryStore,
  type Outcome,
  tool,
} from 'fullmcp';
import { type PolicyOptions, policy } from 'fullmcp/middleware';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { able, accept, lastingStore, waitForStatus } from '../../../support/tasks.js';

const KEY = 'fullmcp/approval';
const ada = { subject: 'ada' };
const yes = { [KEY]: accept({ approve: true }) };

const everything: PolicyOptions = { default: 'approve' };

function build(
  options: { rules?: PolicyOptions; store?: ReturnType<typeof memoryStore>; log?: () => void } = {},
) {
  const ran: unknown[] = [];
  const world = { target: 'a' };
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: options.log ?? (() => undefined),
    store: options.store ?? memoryStore(),
    access: policy(options.rules ?? everything),
    tools: {
      pay: tool({
        input: z.object({ to: z.string(), amount: z.number().default(1) }),
        run: (input) => void ran.push(input),
      }),
      kept: tool({
        idempotency: true,
        input: z.object({ to: z.string() }),
        run: ({ to }) => {
          ran.push(to);
          return `paid ${ran.length}`;
        },
      }),
      job: tool({
        task: 'required',
        input: z.object({ to: z.string() }),
        run: ({ to }) => {
          ran.push(to);
          return 'paid';
        },
      }),
      outer: tool({
        run: async (_, ctx) => (await ctx.call('pay', { to: world.target })).isError === true,
      }),
      asks: tool({
        run: async (_, ctx) => {
          const { n } = await ctx.ask('n', { message: 'n?', schema: z.object({ n: z.number() }) });
          ran.push(n);
          return n;
        },
      }),
      manual: tool({
        run: (_, ctx) => {
          if (ctx.resumed?.state !== 'asked')
            return inputRequired(
              { a: { method: 'elicitation/create', params: { mode: 'form', message: 'a?' } } },
              'asked',
            );
          ran.push('manual');
          return 'done';
        },
      }),
      slow: tool({ timeoutMs: 50, run: () => void ran.push('slow') }),
    },
  });
  const connect = (extra: object = {}): InProcess => inProcess(server, { ...able, caller: ada, ...extra });
  return { server, ran, world, connect, call: connect() };
}

const messageOf = (outcome: Outcome, key = KEY): string =>
  (outcome['inputRequests'] as Record<string, { params: { message: string } }>)[key]?.params.message ?? '';
const text = (outcome: Outcome): string => JSON.stringify([outcome['isError'], outcome['content']]);
const again = ({ requestState }: Outcome, inputResponses: object = yes) => ({ requestState, inputResponses });
const pay = { name: 'pay', arguments: { to: 'eve' } };

describe('a call that needs an approval', () => {
  it('runs once a person has approved it', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', pay);
    expect(asked.resultType).toBe('input_required');
    expect(messageOf(asked)).toBe(
      'Do you approve this call of the tool "pay"?\n\n    to: "eve"\n    amount: 1',
    );
    expect(ran).toEqual([]);
    const done = await call('tools/call', { ...pay, ...again(asked) });
    expect(done.resultType).toBe('complete');
    expect(done['isError']).toBeUndefined();
    expect(ran).toEqual([{ to: 'eve', amount: 1 }]);
  });

  it.each([
    ['decline', { action: 'decline' }, /not called: the user did not approve/],
    ['cancel', { action: 'cancel' }, /not called: the user closed the question/],
    ['accept without approving', accept({ approve: false }), /not called: the user did not approve/],
  ])('does not run after %s, and the model learns why', async (_, answer, reason) => {
    const { call, ran } = build();
    const asked = await call('tools/call', pay);
    const done = await call('tools/call', { ...pay, ...again(asked, { [KEY]: answer }) });
    expect(text(done)).toMatch(/^\[true/);
    expect(text(done)).toMatch(reason);
    expect(ran).toEqual([]);
  });

  it.each([[{}], [{ approve: 'yes' }], [{ approve: 1 }], [{ other: true }], [null]])(
    'is asked about again after an answer that is not one: %j',
    async (content) => {
      const { call, ran } = build();
      const asked = await call('tools/call', pay);
      const next = await call('tools/call', {
        ...pay,
        ...again(asked, { [KEY]: { action: 'accept', content } }),
      });
      expect(next.resultType).toBe('input_required');
      expect(ran).toEqual([]);
    },
  );

  it.each([[{}], [{ capabilities: { elicitation: { url: {} } } }], [{ capabilities: { sampling: {} } }]])(
    'is refused if the client cannot ask a person: %j',
    async (options) => {
      const { connect, ran } = build();
      const call = connect({ capabilities: {}, ...options });
      for (const params of [{}, { inputResponses: yes }])
        await expect(call('tools/call', { ...pay, ...params })).rejects.toMatchObject({
          code: 'missing_capability',
          message: expect.stringMatching(
            /^The tool "pay" was not called: a person has to approve this call, and this client cannot ask one\. .*elicitation\.form/,
          ),
          data: { requiredCapabilities: { elicitation: { form: {} } } },
        });
      expect(ran).toEqual([]);
    },
  );

  it('is refused for local callers, too: the model behind them is what a person watches', async () => {
    const { connect, ran } = build();
    expect((await connect({ caller: undefined })('tools/call', pay)).resultType).toBe('input_required');
    expect(ran).toEqual([]);
  });
});

describe('an approval', () => {
  it('cannot be sent along with the call, before anybody was asked', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', { ...pay, inputResponses: yes });
    expect(asked.resultType).toBe('input_required');
    expect(ran).toEqual([]);
  });

  it('cannot be sent along with the state of another question', async () => {
    const { call, ran } = build({
      rules: { default: 'allow', rules: [{ effect: 'approve', tools: 'pay' }] },
    });
    const first = await call('tools/call', { name: 'asks' });
    await expect(call('tools/call', { ...pay, ...again(first) })).rejects.toThrow(
      /requestState was rejected/,
    );
    expect(ran).toEqual([]);
  });

  it('is for these arguments, this tool and this caller', async () => {
    const { call, connect, ran } = build();
    const asked = await call('tools/call', pay);
    for (const [caller, params] of [
      [call, { name: 'pay', arguments: { to: 'eve', amount: 2 } }],
      [call, { name: 'pay', arguments: { to: 'bob' } }],
      [call, { name: 'kept', arguments: { to: 'eve' } }],
      [connect({ caller: { subject: 'bob' } }), pay],
      [connect({ caller: undefined }), pay],
    ] as const)
      await expect(caller('tools/call', { ...params, ...again(asked) })).rejects.toThrow(
        /requestState was rejected/,
      );
    expect(ran).toEqual([]);
  });

  it('is used once: the same answer does not run the tool a second time', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', pay);
    const repeated = { ...pay, ...again(asked) };
    const outcomes = await Promise.allSettled([
      call('tools/call', repeated),
      call('tools/call', repeated),
      call('tools/call', repeated),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(call('tools/call', repeated)).rejects.toThrow(/requestState was rejected/);
    expect(ran).toHaveLength(1);
  });

  it('is used once by a tool that asks more questions, in each of its rounds', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', { name: 'asks' });
    const second = await call('tools/call', { name: 'asks', ...again(asked) });
    expect(Object.keys(second['inputRequests'] as object)).toEqual(['n']);
    await expect(call('tools/call', { name: 'asks', ...again(asked) })).rejects.toThrow(/rejected/);
    const last = { name: 'asks', ...again(second, { n: accept({ n: 1 }) }) };
    await call('tools/call', last);
    await expect(call('tools/call', last)).rejects.toThrow(/rejected/);
    expect(ran).toEqual([1]);
  });

  it('does not count if its use cannot be recorded', async () => {
    const store = memoryStore();
    const { call, ran } = build({ store });
    const asked = await call('tools/call', pay);
    vi.spyOn(store, 'write').mockRejectedValueOnce(new Error('The store is down'));
    await expect(call('tools/call', { ...pay, ...again(asked) })).rejects.toMatchObject({
      code: 'overloaded',
    });
    expect(ran).toEqual([]);
  });

  it('precedes a tool that returns its questions itself', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', { name: 'manual' });
    expect(Object.keys(asked['inputRequests'] as object)).toEqual([KEY]);
    const second = await call('tools/call', { name: 'manual', ...again(asked) });
    expect(Object.keys(second['inputRequests'] as object)).toEqual(['a']);
    await call('tools/call', { name: 'manual', ...again(second, { a: { action: 'accept' } }) });
    expect(ran).toEqual(['manual']);
    await expect(
      call('tools/call', { name: 'manual', ...again(second, { a: { action: 'accept' } }) }),
    ).rejects.toThrow(/rejected/);
  });

  it('takes the time that a person needs, whatever the time limit of the tool', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', { name: 'slow' });
    await call('tools/call', { name: 'slow', ...again(asked) });
    expect(ran).toEqual(['slow']);
  });
});

describe('a call from another handler', () => {
  const outerAllowed: PolicyOptions = { default: 'allow', rules: [{ effect: 'approve', tools: 'pay' }] };
  const inner = `pay#1/${KEY}`;

  it('is asked about', async () => {
    const { call, ran } = build({ rules: outerAllowed });
    const asked = await call('tools/call', { name: 'outer' });
    expect(messageOf(asked, inner)).toContain('the tool "pay"?\n\n    to: "a"');
    const refused = await call('tools/call', {
      name: 'outer',
      ...again(asked, { [inner]: { action: 'decline' } }),
    });
    expect(text(refused)).toContain('true');
    expect(ran).toEqual([]);
    const next = await call('tools/call', { name: 'outer' });
    await call('tools/call', { name: 'outer', ...again(next, { [inner]: accept({ approve: true }) }) });
    expect(ran).toEqual([{ to: 'a', amount: 1 }]);
  });

  it('is asked about again if its arguments have changed since, even where the question does not show them', async () => {
    const { call, ran, world } = build({ rules: outerAllowed });
    world.target = `${'x'.repeat(1000)}1`;
    const asked = await call('tools/call', { name: 'outer' });
    const shown = messageOf(asked, inner);
    world.target = `${'x'.repeat(1000)}2`;
    const second = await call('tools/call', {
      name: 'outer',
      ...again(asked, { [inner]: accept({ approve: true }) }),
    });
    expect(second.resultType).toBe('input_required');
    expect(messageOf(second, inner)).toBe(shown);
    expect(ran).toEqual([]);
  });
});

describe('a task', () => {
  const job = { name: 'job', arguments: { to: 'eve' } };

  it('waits for the approval, and another process runs it with the answer', async () => {
    const lasting = lastingStore();
    const first = build({ store: lasting.store as never });
    const { taskId } = await first.call('tools/call', job);
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    expect(first.ran).toEqual([]);

    const second = build({ store: lasting.store as never });
    await second.server.start();
    const waiting = await waitForStatus(second.call, taskId, 'input_required');
    expect(messageOf(waiting)).toContain('the tool "job"?');
    expect(second.ran).toEqual([]);
    await second.call('tasks/update', { taskId, inputResponses: yes });
    await waitForStatus(second.call, taskId, 'completed');
    expect(second.ran).toEqual(['eve']);
    await second.server.close();
  });

  it('does not run after a refusal', async () => {
    const { call, ran, server } = build();
    const { taskId } = await call('tools/call', job);
    await waitForStatus(call, taskId, 'input_required');
    await call('tasks/update', { taskId, inputResponses: { [KEY]: { action: 'decline' } } });
    const done = await waitForStatus(call, taskId, 'completed');
    expect(done['result']).toMatchObject({ isError: true });
    expect(JSON.stringify(done)).toMatch(/did not approve/);
    expect(ran).toEqual([]);
    await server.close();
  });

  it('does not run with an approval that came with the call, before the question', async () => {
    const { call, ran, server } = build();
    const { taskId } = await call('tools/call', { ...job, inputResponses: yes });
    await waitForStatus(call, taskId, 'input_required');
    expect(ran).toEqual([]);
    await server.close();
  });

  it('of a tool that the policy has begun to deny ends without running', async () => {
    const lasting = lastingStore();
    const first = build({ store: lasting.store as never });
    const { taskId } = await first.call('tools/call', job);
    await waitForStatus(first.call, taskId, 'input_required');
    await first.call('tasks/update', { taskId, inputResponses: {} }).catch(() => undefined);
    await first.server.close();
    const second = build({
      store: lasting.store as never,
      rules: {
        default: 'approve',
        rules: [{ effect: 'deny', tools: 'job', input: ({ to }) => to === 'eve' }],
      },
    });
    await second.server.start();
    await second.call('tasks/update', { taskId, inputResponses: yes });
    const done = await waitForStatus(second.call, taskId, 'completed');
    expect(done['result']).toMatchObject({ isError: true });
    expect(JSON.stringify(done)).toMatch(/the policy of this server does not allow it/);
    expect(second.ran).toEqual([]);
    await second.server.close();
  });
});

describe('a call with an idempotency key', () => {
  const keyed = (key: string) => ({
    name: 'kept',
    arguments: { to: 'eve' },
    _meta: { 'fullmcp/idempotencyKey': key },
  });

  it('runs once with one approval, and its repetition gets the same outcome', async () => {
    const { call, ran } = build();
    const asked = await call('tools/call', keyed('k'));
    const done = await call('tools/call', { ...keyed('k'), ...again(asked) });
    expect(text(done)).toContain('paid 1');
    expect(text(await call('tools/call', { ...keyed('k'), ...again(asked) }))).toContain('paid 1');
    expect(text(await call('tools/call', keyed('k')))).toContain('paid 1');
    expect(ran).toEqual(['eve']);
    expect((await call('tools/call', keyed('l'))).resultType).toBe('input_required');
    expect(ran).toEqual(['eve']);
  });

  it('does not get the kept outcome once the policy denies the call', async () => {
    let isDenied = false;
    const { call } = build({
      rules: { default: 'allow', rules: [{ effect: 'deny', tools: 'kept', input: () => isDenied }] },
    });
    expect(text(await call('tools/call', keyed('k')))).toContain('paid 1');
    isDenied = true;
    expect(text(await call('tools/call', keyed('k')))).toMatch(
      /true.*the policy of this server does not allow/,
    );
  });
});

describe('a decision that changes while a call asks', () => {
  const flips = () => {
    const now = { needsApproval: false };
    const rules: PolicyOptions = {
      default: 'allow',
      rules: [{ effect: 'approve', tools: 'asks', input: () => now.needsApproval }],
    };
    return { now, ...build({ rules }) };
  };
  const answers = { ...yes, n: accept({ n: 1 }) };

  it('from allowing to approving ends the call, and the tool does not run', async () => {
    const { now, call, ran } = flips();
    const first = await call('tools/call', { name: 'asks' });
    now.needsApproval = true;
    await expect(call('tools/call', { name: 'asks', ...again(first, answers) })).rejects.toThrow(
      /did not reach "n" again/,
    );
    expect(ran).toEqual([]);
  });

  it('from approving to allowing ends the call, and the tool does not get further', async () => {
    const { now, call, ran } = flips();
    now.needsApproval = true;
    const first = await call('tools/call', { name: 'asks' });
    now.needsApproval = false;
    await expect(call('tools/call', { name: 'asks', ...again(first, yes) })).rejects.toThrow(
      /did not reach "fullmcp\/approval" again/,
    );
    expect(ran).toEqual([]);
  });
});

describe('a policy that fails', () => {
  it('to make its question ends the call, and the operator is told', async () => {
    const log = vi.fn();
    const { call, ran } = build({
      log,
      rules: {
        default: 'allow',
        rules: [
          {
            effect: 'approve',
            tools: 'pay',
            question: () => {
              throw new Error('no words');
            },
          },
        ],
      },
    });
    await expect(call('tools/call', pay)).rejects.toThrow(/^Internal error \(ref /);
    expect(log.mock.calls[0]?.[2]).toMatchObject({ message: 'no words' });
    expect(ran).toEqual([]);
  });
});
