import { createServer, inProcess, memoryStore, tool } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const able = { capabilities: { elicitation: {} } };
const text = { message: 'What?', schema: z.object({ text: z.string() }) };
const say = (length: number) => ({ action: 'accept', content: { text: 'x'.repeat(length) } });

function build(once = false) {
  const effects: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store: memoryStore(),
    asking: { maxBytes: 2000, once },
    tools: {
      echo: tool({
        run: async (_, ctx) => {
          effects.push('run');
          const answer = await ctx.ask('what', text);
          await ctx.step('keep', () => effects.push('keep'));
          await ctx.ask('more', text);
          return answer.text.length;
        },
      }),
      big: tool({ run: async (_, ctx) => (await ctx.step('big', () => 'x'.repeat(3000))).length }),
      pays: tool({
        run: async (_, ctx) => {
          await ctx.step('big', () => 'x'.repeat(3000));
          await ctx.step('pay', () => effects.push('pay')).catch(() => effects.push('refused'));
          await ctx.step('mail', () => effects.push('mail')).catch(() => effects.push('refused'));
          return 'paid';
        },
      }),
      asks: tool({
        run: async (_, ctx) => {
          await ctx.step('big', () => 'ü'.repeat(1500));
          return ctx.ask('what', text);
        },
      }),
    },
  });
  return { effects, call: inProcess(server, able) };
}

const tooLarge = {
  code: 'invalid_params',
  message: expect.stringMatching(/params\.inputResponses is too large.*the limit is 2000/),
};

describe('answers that are too large', () => {
  test('are rejected before the handler runs, with a state and without', async () => {
    const { call, effects } = build();
    const { requestState } = await call('tools/call', { name: 'echo' });
    expect(effects.splice(0)).toEqual(['run']);
    const inputResponses = { what: say(200_000) };
    await expect(call('tools/call', { name: 'echo', inputResponses })).rejects.toMatchObject(tooLarge);
    await expect(call('tools/call', { name: 'echo', inputResponses, requestState })).rejects.toMatchObject(
      tooLarge,
    );
    expect(effects).toEqual([]);
  });

  test('are counted together with the answers of earlier rounds', async () => {
    const { call, effects } = build();
    const first = await call('tools/call', { name: 'echo' });
    const { requestState } = await call('tools/call', {
      name: 'echo',
      inputResponses: { what: say(1200) },
      requestState: first['requestState'],
    });
    effects.length = 0;
    await expect(
      call('tools/call', { name: 'echo', inputResponses: { more: say(1200) }, requestState }),
    ).rejects.toMatchObject(tooLarge);
    expect(effects).toEqual([]);
    const done = await call('tools/call', { name: 'echo', inputResponses: { more: say(10) }, requestState });
    expect(done).toMatchObject({ content: [{ text: '1200' }] });
  });

  test('do not use up a state that can be used once', async () => {
    const { call } = build(true);
    const { requestState } = await call('tools/call', { name: 'echo' });
    const answer = (length: number) =>
      call('tools/call', { name: 'echo', inputResponses: { what: say(length) }, requestState });
    await expect(answer(200_000)).rejects.toMatchObject(tooLarge);
    expect((await answer(10)).resultType).toBe('input_required');
    await expect(answer(10)).rejects.toThrow('params.requestState was rejected');
  });
});

describe('steps that return too much', () => {
  test('do no harm if no step or question comes after them', async () => {
    expect(await build().call('tools/call', { name: 'big' })).toMatchObject({ content: [{ text: '3000' }] });
  });

  test('let no other step begin, whatever the handler catches', async () => {
    const { call, effects } = build();
    await expect(call('tools/call', { name: 'pays' })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(
        /more than asking\.maxBytes \(2000\), so "pay" was not started\. Return less/,
      ),
    });
    expect(effects).toEqual(['refused', 'refused']);
  });

  test('let no question be asked, counted in bytes, not characters', async () => {
    await expect(build().call('tools/call', { name: 'asks' })).rejects.toThrow('"what" was not started');
  });
});
