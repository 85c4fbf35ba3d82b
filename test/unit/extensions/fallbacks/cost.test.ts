import { createServer, inProcess, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerQuestion, continueTask } from '../../../../src/extensions/fallbacks/tools.js';
import { toolTokens } from '../../../../src/tooling/lint/tokens.js';
import { hostOf, textOf } from '../../../support/fallbacks/host.js';

// The tokens that fallbacks take from the context of a model: four characters each, about.
const tokens = (text: string): number => Math.ceil(text.length / 4);

describe('the cost of fallbacks', () => {
  it('is a few hundred tokens for both tools', () => {
    expect(toolTokens({ ...continueTask })).toBeLessThan(120);
    expect(toolTokens({ ...answerQuestion })).toBeLessThan(200);
  });

  it('is a short text for a call that is not finished, or that asks', async () => {
    const long = tool({ task: 'optional', run: () => new Promise(() => undefined) });
    const ask = tool({
      run: async (_input, ctx) =>
        (await ctx.ask('name', { message: 'Who?', schema: z.object({ name: z.string() }) })).name,
    });
    const fallbacks = { tasks: { after: 1 }, asking: 'model' } as const;
    const host = hostOf(createServer({ name: 'x', version: '1', tools: { long, ask }, fallbacks }));
    expect(tokens(textOf(await host.call('long')))).toBeLessThan(80);
    expect(tokens(textOf(await host.call('ask')))).toBeLessThan(150);
  });

  it('is nothing for a client that has tasks and questions: it gets the list and the results of a server without fallbacks', async () => {
    const extensions = { 'io.modelcontextprotocol/tasks': {} };
    const able = { capabilities: { elicitation: {}, extensions } };
    const tools = { add: tool({ output: z.object({ a: z.int() }), run: () => ({ a: 1 }) }) };
    const identity = { name: 'x', version: '1', tools };
    const [plain, helped] = [{}, { fallbacks: { tasks: {}, asking: 'model' } as const }].map((more) =>
      inProcess(createServer({ ...identity, ...more }), able),
    );
    for (const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { name: 'add' }],
    ] as const)
      expect(await helped?.(method, params)).toEqual(await plain?.(method, params));
  });
});
