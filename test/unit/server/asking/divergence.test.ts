import { createServer, type InProcess, inProcess, type Tool, ToolError, tool } from 'fullmcp';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

const able = { capabilities: { elicitation: {} } };
const schema = z.object({ ok: z.boolean() });
const question = (message: string) => ({ message, schema });
const yes = { action: 'accept', content: { ok: true } };

function build(run: Tool['run']): InProcess {
  const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
  return inProcess(createServer({ ...quiet, tools: { t: tool({ run: run as () => unknown }) } }), able);
}

async function answer(call: InProcess, previous: object, ...keys: string[]) {
  const inputResponses = Object.fromEntries(keys.map((key) => [key, yes]));
  const { requestState } = previous as { requestState: string };
  return call('tools/call', { name: 't', inputResponses, requestState });
}

const keysOf = (outcome: object) =>
  Object.keys((outcome as { inputRequests?: object }).inputRequests ?? {}).sort();

describe('a run that does not reach a key again', () => {
  test('is stopped before its other question is asked', async () => {
    let run = 0;
    const call = build(async (_, ctx) => {
      await ctx.step('charge', () => 1);
      await (run++ === 0 ? ctx.ask('small', question('Small?')) : ctx.ask('large', question('Large?')));
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    await expect(answer(call, first, 'small')).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/did not reach "small" again/),
    });
  });

  test('is stopped even if the handler catches the error of its question', async () => {
    let run = 0;
    const call = build(async (_, ctx) => {
      if (run++ === 0) return ctx.ask('first', question('First?'));
      return ctx.ask('other', question('Other?')).catch(() => 'done');
    });
    const first = await call('tools/call', { name: 't' });
    await expect(answer(call, first, 'first')).rejects.toThrow('"first"');
  });

  test('is an error when it returns, even if the key was last reached two runs before', async () => {
    let run = 0;
    const call = build(async (_, ctx) => {
      run++;
      // In parallel, the other branch might still reach the key.
      const branches = [ctx.ask(`round ${run}`, question('More?')), ctx.ask('again', question('Again?'))];
      if (run === 1) branches.push(ctx.ask('once', question('Once?')));
      await Promise.all(branches);
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    expect(keysOf(first)).toEqual(['again', 'once', 'round 1']);
    const second = await answer(call, first, 'again', 'round 1');
    expect(keysOf(second)).toEqual(['round 2']);
    // The keys of the first round are not forgotten, even if the second round did not reach them.
    run = 1;
    await expect(answer(call, second, 'round 2')).rejects.toThrow(/"round 1"|"once"/);
  });

  test('may end with a ToolError, which is the result', async () => {
    let run = 0;
    const call = build(async (_, ctx) => {
      if (run++ > 0) throw new ToolError('The shop is closed');
      await ctx.step('look', () => 1);
      return ctx.ask('sure', question('Sure?'));
    });
    const first = await call('tools/call', { name: 't' });
    expect(await answer(call, first, 'sure')).toMatchObject({
      isError: true,
      content: [{ text: 'The shop is closed' }],
    });
  });

  test('is not an error if a slow branch reaches its key a round later, and its answer is not asked for again', async () => {
    let run = 0;
    const slow = [Promise.resolve(), new Promise<void>(() => undefined), Promise.resolve()];
    const call = build(async (_, ctx) => {
      const reading = slow[run++];
      async function read() {
        await reading;
        return ctx.ask('b', question('B?'));
      }
      await Promise.all([ctx.ask('a', question('A?')).then(() => ctx.ask('c', question('C?'))), read()]);
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    expect(keysOf(first)).toEqual(['a', 'b']);
    const second = await answer(call, first, 'a', 'b');
    expect(keysOf(second)).toEqual(['c']);
    expect(await answer(call, second, 'c')).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('is not an error if its branches first ran one after the other and now run in parallel, one of them slowly', async () => {
    let run = 0;
    const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const call = build(async (_, ctx) => {
      const isFirst = run++ === 0;
      async function asks() {
        if (isFirst) await later(20);
        await ctx.ask('a', question('A?'));
        await ctx.ask('c', question('C?'));
      }
      async function reads() {
        if (!isFirst) await later(50);
        await ctx.step('b', () => 1);
      }
      await Promise.all([asks(), reads()]);
      return 'done';
    });
    // Sequential in the first run, parallel in the second.
    const first = await call('tools/call', { name: 't' });
    const second = await answer(call, first, 'a');
    expect(keysOf(second)).toEqual(['c']);
    expect(await answer(call, second, 'c')).toMatchObject({ content: [{ text: 'done' }] });
  });
});

describe('a run that reaches all its keys again', () => {
  test('may ask its parallel questions in another order', async () => {
    let run = 0;
    const call = build(async (_, ctx) => {
      const keys = run++ % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'a', 'b'];
      await Promise.all(keys.map((key) => ctx.ask(key, question(key))));
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    const second = await answer(call, first, 'b');
    expect(keysOf(second)).toEqual(['a', 'c']);
    expect(await answer(call, second, 'a', 'c')).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('may take thirty sequential rounds', async () => {
    const call = build(async (_, ctx) => {
      for (let at = 0; at < 30; at++) {
        await ctx.ask(`question ${at}`, question(`${at}?`));
        await ctx.step(`step ${at}`, () => at);
      }
      return 'done';
    });
    let outcome = await call('tools/call', { name: 't' });
    for (let at = 0; at < 30; at++) outcome = await answer(call, outcome, `question ${at}`);
    expect(outcome).toMatchObject({ content: [{ text: 'done' }] });
  });
});

describe('a step that is new', () => {
  /** A promise, and the function that resolves it. */
  function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
    let open!: () => void;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  }

  let passedMs = 0;

  /** Lets the time of the fake timers pass until a promise settles, and counts it. */
  async function passTime<T>(promise: Promise<T>): Promise<T> {
    passedMs = 0;
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    while (!isSettled) {
      await vi.advanceTimersByTimeAsync(100);
      passedMs += 100;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return settled;
  }

  test('does not run in a run that has skipped the step of an earlier run', async () => {
    const effects: string[] = [];
    let run = 0;
    const call = build(async (_, ctx) => {
      if (run++ === 0) await ctx.step('charge', () => 1);
      await ctx.ask('sure', question('Sure?'));
      await ctx.step('ship', () => effects.push('ship'));
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    await expect(answer(call, first, 'sure')).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/did not reach "charge" again.*, so "ship" was not started\./),
    });
    expect(effects).toEqual([]);
  });

  test('waits for a slow parallel branch, and runs when the branch has reached its question', async () => {
    const events: string[] = [];
    const fetched = gate();
    let run = 0;
    const call = build(async (_, ctx) => {
      const isFirst = run++ === 0;
      async function fetches() {
        if (!isFirst) await fetched.opened;
        events.push('asks');
        await ctx.ask('b', question('B?'));
      }
      async function pays() {
        await ctx.ask('a', question('A?'));
        setImmediate(fetched.open);
        await ctx.step('pay', () => events.push('pays'));
      }
      await Promise.all([pays(), fetches()]);
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    events.length = 0;
    expect(await answer(call, first, 'a', 'b')).toMatchObject({ content: [{ text: 'done' }] });
    expect(events).toEqual(['asks', 'pays']);
  });

  test('waits for the step of a parallel branch, however long that takes, before the branch has to reach its question', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const effects: string[] = [];
    let run = 0;
    const call = build(async (_, ctx) => {
      const isFirst = run++ === 0;
      async function pays() {
        await ctx.ask('a', question('A?'));
        await ctx.step('pay', () => effects.push('pay'));
      }
      async function loads() {
        // By now the other branch waits for the question.
        if (!isFirst) await new Promise((done) => setTimeout(done, 500));
        const load = async () => {
          if (isFirst) throw new Error('The service is away');
          await new Promise((done) => setTimeout(done, 600_000));
          effects.push('load');
        };
        await ctx.step('load', load).catch(() => undefined);
        await ctx.ask('b', question('B?'));
      }
      await Promise.all([pays(), loads()]);
      return 'done';
    });
    const first = await passTime(call('tools/call', { name: 't' }));
    const last = await passTime(answer(call, first, 'a', 'b'));
    expect(last).toMatchObject({ content: [{ text: 'done' }] });
    expect(effects).toEqual(['load', 'pay']);
  });

  test('does not run if a parallel branch has skipped a key, and the call ends after half a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const effects: string[] = [];
    let run = 0;
    const call = build(async (_, ctx) => {
      const keys = run++ === 0 ? ['a', 'b'] : ['a'];
      await Promise.all(keys.map((key) => ctx.step(key, () => effects.push(key))));
      await ctx.ask('sure', question('Sure?'));
      await Promise.all(['c', 'd'].map((key) => ctx.step(key, () => effects.push(key))));
      return 'done';
    });
    const first = await passTime(call('tools/call', { name: 't' }));
    await expect(passTime(answer(call, first, 'sure'))).rejects.toThrow(
      /did not reach "b" again.*"c" was not/,
    );
    expect(effects).toEqual(['a', 'b']);
    // Branches that are known to be parallel may be slow.
    expect(passedMs).toBeGreaterThanOrEqual(30_000);
  });

  test('waits for the answer to a question that was changed, if keys of an earlier run come after that', async () => {
    const effects: string[] = [];
    let message = 'First?';
    const call = build(async (_, ctx) => {
      async function one() {
        await ctx.ask('one', question(message));
        await ctx.step('of one', () => effects.push('of one'));
      }
      async function two() {
        await ctx.ask('two', question('Two?'));
        await ctx.step('of two', () => effects.push('of two'));
      }
      await Promise.all([one(), two()]);
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    const second = await answer(call, first, 'one');
    expect(effects).toEqual(['of one']);
    message = 'Second?';
    const third = await answer(call, second, 'two');
    expect(keysOf(third)).toEqual(['one']);
    expect(effects).toEqual(['of one']);
    expect(await answer(call, third, 'one', 'two')).toMatchObject({ content: [{ text: 'done' }] });
    expect(effects).toEqual(['of one', 'of two']);
  });

  test('that had to wait for an answer was not begun, so that later runs need not reach it', async () => {
    const effects: string[] = [];
    let message = 'First?';
    let isRolledBack = false;
    const call = build(async (_, ctx) => {
      async function one() {
        await ctx.ask('one', question(message));
        await ctx.step('of one', () => effects.push('of one'));
      }
      async function two() {
        await ctx.ask('two', question('Two?'));
        if (!isRolledBack) await ctx.step('of two', () => effects.push('of two'));
      }
      await Promise.all([one(), two()]);
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    const second = await answer(call, first, 'one');
    message = 'Second?';
    const third = await answer(call, second, 'two');
    isRolledBack = true;
    expect(await answer(call, third, 'one', 'two')).toMatchObject({ content: [{ text: 'done' }] });
    expect(effects).toEqual(['of one']);
  });

  test('of an inner tool does not run once the time of that tool is over', async () => {
    const effects: string[] = [];
    const reads = gate();
    let run = 0;
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      logger: () => undefined,
      tools: {
        inner: tool({
          timeoutMs: 50,
          run: async (_, ctx) => {
            await ctx.ask('sure', question('Sure?'));
            await ctx.step('pay', () => effects.push('pay'));
          },
        }),
        t: tool({
          run: async (_, ctx) => {
            const isFirst = run++ === 0;
            async function other() {
              if (!isFirst) await reads.opened;
              await ctx.step('read', () => 1);
            }
            const inner = ctx.call('inner').then((result) => {
              reads.open();
              return result;
            });
            await Promise.all([inner, other()]);
            return inner;
          },
        }),
      },
    });
    const call = inProcess(server, able);
    const first = await call('tools/call', { name: 't' });
    expect(keysOf(first)).toEqual(['inner#1/sure']);
    expect(await answer(call, first, 'inner#1/sure')).toMatchObject({ isError: true });
    expect(effects).toEqual([]);
  });

  test('in place of a question is not that question', async () => {
    const effects: string[] = [];
    let run = 0;
    const call = build(async (_, ctx) => {
      if (run++ === 0) await ctx.ask('sure', question('Sure?'));
      await ctx.step('sure', () => effects.push('sure'));
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    await expect(answer(call, first, 'sure')).rejects.toThrow('did not reach "sure" again');
    expect(effects).toEqual([]);
  });

  test('may follow a step that failed, was caught, and succeeds now', async () => {
    const effects: string[] = [];
    let run = 0;
    const call = build(async (_, ctx) => {
      const isFirst = run++ === 0;
      await ctx
        .step('mail', () => {
          if (isFirst) throw new Error('The mail server is away');
          effects.push('mail');
        })
        .catch(() => undefined);
      await ctx.ask('sure', question('Sure?'));
      await ctx.step('ship', () => effects.push('ship'));
      return 'done';
    });
    const first = await call('tools/call', { name: 't' });
    expect(await answer(call, first, 'sure')).toMatchObject({ content: [{ text: 'done' }] });
    expect(effects).toEqual(['mail', 'ship']);
  });
});
