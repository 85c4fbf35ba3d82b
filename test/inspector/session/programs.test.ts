import { createServer, jsonSchema, ToolError, tool } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rig } from './rig.js';

const one = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;

/** A server whose users approve what programs remove. */
function shop(released: Promise<string> = Promise.resolve('at once')) {
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    code: { engine: quickjs({ threads: 1 }), approve: 'destructive' },
    tools: {
      slow: tool({ annotations: { readOnly: true }, run: () => released }),
      list: tool({ annotations: { readOnly: true }, run: () => ({ ids: ['a', 'b'] }) }),
      remove: tool({
        input: jsonSchema(one),
        run: (input) => {
          const { id } = input as unknown as { id: string };
          if (id === 'b') throw new ToolError('b is locked');
          return { removed: id };
        },
      }),
    },
  });
  onTestFinished(() => server.close());
  return server;
}

const code = `const { ids } = await tools.list({});
for (const id of ids) {
  try {
    await tools.remove({ id });
  } catch (error) {
    console.log(error.message);
  }
}
return ids.length;`;

const agree = { action: 'accept', content: { approve: true } } as const;

describe('a call of run_code in the inspector', () => {
  // In the newest revision, a program of a client that supports tasks is a task.
  test.each([
    ['2026-07-28', false],
    ['2025-11-25', false],
    ['2025-11-25', true],
  ] as const)(
    'has the calls of its program with their lines, before and after the approval, %s, asTask: %s',
    async (revision, asTask) => {
      await using own = rig();
      const connection = await own.connect({ target: shop(), options: { revision } });
      const { story } = await own.run('call', { connection, tool: 'run_code', args: { code }, asTask });
      const question = await own.question(story);
      expect(question.message).toContain('2 × remove');
      const listed = { seq: 1, tool: 'list', args: '{}', state: 'done', line: 1 };
      await own.until('the first call', () => own.story(story).program?.calls.length === 1);
      expect(own.story(story).program).toMatchObject({ isTold: true, calls: [listed] });

      await own.run('answer', { story, question: question.id, answer: agree });
      const { program, state } = await own.ended(story);
      expect(state).toBe('ok');
      const removed = { tool: 'remove', line: 4, isApproved: true };
      expect(program?.calls).toEqual([
        { ...listed, result: '{"ids":["a","b"]}', ms: expect.any(Number) },
        {
          ...{ ...removed, seq: 2, args: '{"id":"a"}', state: 'done', result: '{"removed":"a"}' },
          ms: expect.any(Number),
        },
        {
          ...{ ...removed, seq: 3, args: '{"id":"b"}', state: 'failed', error: 'b is locked' },
          ms: expect.any(Number),
        },
      ]);
    },
  );

  test('has the calls that did not end when the program failed', async () => {
    await using own = rig();
    let release!: (text: string) => void;
    const released = new Promise<string>((resolve) => {
      release = resolve;
    });
    const connection = await own.connect({ target: shop(released) });
    const { story } = await own.run('call', {
      connection,
      tool: 'run_code',
      args: { code: 'const slow = tools.slow({});\nawait tools.list({});\nthrow new Error("enough");' },
    });
    const { program, state } = await own.ended(story);
    release('late');
    expect(state).toBe('tool-error');
    expect(program?.calls).toMatchObject([
      { seq: 1, tool: 'slow', state: 'waiting', line: 1 },
      { seq: 2, tool: 'list', state: 'done', line: 2 },
    ]);
  });

  test('is known to have made no call, or not to be told of any', async () => {
    await using own = rig();
    const connection = await own.connect({ target: shop() });
    const { story } = await own.run('call', { connection, tool: 'run_code', args: { code: 'return 1;' } });
    expect((await own.ended(story)).program).toEqual({ isTold: true, calls: [] });

    const other = createServer({
      name: 'other',
      version: '1.0.0',
      tools: { run_code: tool({ input: jsonSchema({ type: 'object' }), run: () => 'done' }) },
    });
    onTestFinished(() => other.close());
    const second = await own.connect({ target: other });
    const call = await own.run('call', { connection: second, tool: 'run_code', args: { code: 'return 1;' } });
    expect((await own.ended(call.story)).program).toEqual({ isTold: false, calls: [] });
  });
});
