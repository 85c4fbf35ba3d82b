import fc from 'fast-check';
import { type Context, createServer, inProcess, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { z } from 'zod';

// Generated handlers: questions, steps and waiting in any order, in parallel and nested, with
// `catch` and `finally` around them. Each step of such a handler runs once, however the client answers.

type Part =
  | { readonly kind: 'ask' | 'step' | 'wait'; readonly turns: number }
  | { readonly kind: 'all' | 'catch' | 'finally'; readonly parts: readonly Part[] };

const leaf = fc.record({
  kind: fc.constantFrom('ask' as const, 'step' as const, 'wait' as const),
  turns: fc.nat(3),
});
const { handler } = fc.letrec<{ handler: Part; parts: Part[] }>((tie) => ({
  handler: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      kind: fc.constantFrom('all' as const, 'catch' as const, 'finally' as const),
      parts: tie('parts'),
    }),
  ),
  parts: fc.array(tie('handler'), { minLength: 1, maxLength: 4 }),
}));

const question = { message: '?', schema: z.object({ ok: z.boolean() }) };
const yes = { action: 'accept', content: { ok: true } };

async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
}

interface World {
  readonly ctx: Context;
  readonly effects: Map<string, number>;
  /** How long something takes in this run. */
  readonly slow: (turns: number) => number;
}

async function play(part: Part, key: string, world: World): Promise<void> {
  const { ctx, effects, slow } = world;
  const effect = (name: string) => () => void effects.set(name, (effects.get(name) ?? 0) + 1);
  switch (part.kind) {
    case 'ask':
      return void (await ctx.ask(key, question));
    case 'wait':
      return turns(slow(part.turns));
    case 'step':
      return ctx.step(key, async () => {
        await turns(slow(part.turns));
        effect(key)();
      });
    case 'all':
      return void (await Promise.all(part.parts.map((inner, at) => play(inner, `${key}.${at}`, world))));
    case 'catch':
      try {
        for (const [at, inner] of part.parts.entries()) await play(inner, `${key}.${at}`, world);
      } catch (error) {
        await ctx.step(`${key} undo`, effect(`${key} undo`));
        throw error;
      }
      return;
    case 'finally':
      try {
        for (const [at, inner] of part.parts.entries()) await play(inner, `${key}.${at}`, world);
      } finally {
        await ctx.step(`${key} tidy`, effect(`${key} tidy`));
      }
  }
}

test('a handler of any shape reaches its end, and each of its steps runs once', async () => {
  await fc.assert(
    fc.asyncProperty(handler, fc.infiniteStream(fc.nat(3)), async (part, chance) => {
      const effects = new Map<string, number>();
      const next = (): number => chance.next().value ?? 0;
      const server = createServer({
        name: 'test',
        version: '1',
        secret: 'x'.repeat(32),
        logger: () => undefined,
        tools: {
          t: tool({
            run: async (_, ctx) => {
              await play(part, 'h', { ctx, effects, slow: (count) => (count * next()) % 4 });
              return 'done';
            },
          }),
        },
      });
      const call = inProcess(server, { capabilities: { elicitation: {} } });
      let outcome = await call('tools/call', { name: 't' });
      for (let round = 0; outcome.resultType === 'input_required'; round++) {
        expect(round).toBeLessThan(200);
        const keys = Object.keys(outcome['inputRequests'] as object);
        // Not every question is answered, and some answers are invalid.
        const answered = keys.filter(() => next() > 0);
        const inputResponses = Object.fromEntries(
          answered.map((key) => [key, next() > 0 ? yes : 'nonsense']),
        );
        outcome = await call('tools/call', {
          name: 't',
          inputResponses,
          requestState: outcome['requestState'],
        });
      }
      expect(outcome).toMatchObject({ content: [{ text: 'done' }] });
      for (const [name, count] of effects) expect(`${name}: ${count}`).toBe(`${name}: 1`);
      expect([...effects.keys()].filter((name) => name.endsWith('undo'))).toEqual([]);
      expect(effects.size).toBe(stepsOf(part));
    }),
    { numRuns: 150 },
  );
});

/** How many steps of a handler cannot fail. */
function stepsOf(part: Part): number {
  if (!('parts' in part)) return part.kind === 'step' ? 1 : 0;
  return part.parts.map(stepsOf).reduce((a, b) => a + b, part.kind === 'finally' ? 1 : 0);
}
