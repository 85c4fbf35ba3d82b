import { type CodeOptions, createServer, jsonSchema, type ServerOptions, tool } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../../../src/client/model/client.js';
import { inProcessClient } from '../../../support/in-process-client.js';

interface Item {
  readonly id: string;
  readonly amount?: number;
}

const item = {
  type: 'object',
  properties: { id: { type: 'string' }, amount: { type: 'number' } },
  required: ['id'],
} as const;

/** A server with data that change, what its tools have done, and the questions that its user was asked. */
function shop(approve: CodeOptions['approve'] = 'destructive', options: Partial<ServerOptions> = {}) {
  const items = new Map<string, number>([
    ['a', 20],
    ['b', 2000],
    ['c', 3000],
  ]);
  const done: string[] = [];
  const questions: string[] = [];
  const idOf = (input: unknown): string => (input as Item).id;
  const tools = {
    list: tool({
      annotations: { readOnly: true },
      run: () => {
        done.push('list');
        return { items: [...items].map(([id, amount]) => ({ id, amount })) };
      },
    }),
    note: tool({
      annotations: { destructive: false },
      input: jsonSchema(item),
      run: (input) => {
        done.push(`note ${idOf(input)}`);
        return { noted: idOf(input) };
      },
    }),
    remove: tool({
      input: jsonSchema(item),
      run: (input) => {
        done.push(`remove ${idOf(input)}`);
        items.delete(idOf(input));
        return { removed: idOf(input) };
      },
    }),
    secret_remove: tool({ scopes: ['admin'], run: () => 'secret' }),
    asks: tool({
      annotations: { readOnly: true },
      run: async (_, ctx) => {
        await ctx.elicit('more', {
          message: 'More?',
          schema: jsonSchema({ type: 'object', properties: { approve: { type: 'boolean' } } }),
        });
        done.push('asked');
        return { more: true };
      },
    }),
  };
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    code: { engine: quickjs({ threads: 1 }), maxCalls: 40, approve },
    tools,
    ...options,
  } as ServerOptions);
  onTestFinished(() => server.close());
  let onQuestion: (count: number) => boolean = () => true;
  const connect = async (more: object = {}): Promise<Client> => {
    const client = await inProcessClient(server, {
      elicit: ({ message }: { message: string }) => {
        questions.push(message);
        const agrees = onQuestion(questions.length);
        return { action: 'accept', content: { approve: agrees } };
      },
      ...more,
    } as never);
    onTestFinished(() => client.close());
    return client;
  };
  return {
    ...{ server, items, done, questions, connect },
    answer: (decide: typeof onQuestion) => {
      onQuestion = decide;
    },
  };
}

async function run(client: Client, code: string): Promise<{ text: string; isError: boolean; data: unknown }> {
  const result = await client.callTool('run_code', { code });
  const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return { text, isError: result.isError === true, data: result.data };
}

/** The calls that a question shows. */
function shown(question: string | undefined): readonly string[] {
  return (question?.match(/^ {4}\d+\. .*$/gm) ?? []).map((line) => line.trim());
}

const table: readonly {
  readonly name: string;
  readonly approve?: CodeOptions['approve'];
  readonly code: string;
  /** The calls that each question shows. */
  readonly asks: readonly (readonly string[])[];
  readonly does: readonly string[];
}[] = [
  {
    name: 'nothing is asked about a program that only reads',
    approve: 'all',
    code: 'return (await tools.list({})).items.length;',
    asks: [],
    does: ['list'],
  },
  {
    name: 'one change is shown with its arguments',
    code: 'return tools.remove({ id: "a" });',
    asks: [['1. remove({"id": "a"})']],
    does: ['remove a'],
  },
  {
    name: 'changes that were chosen by a read are one question, and the read is made once',
    code: 'const { items } = await tools.list({}); for (const one of items) if (one.amount > 1000) await tools.remove({ id: one.id }); return 1;',
    asks: [['2. remove({"id": "b"})', '3. remove({"id": "c"})']],
    does: ['list', 'remove b', 'remove c'],
  },
  {
    name: 'changes at the same time are one question, beside a read',
    code: 'await Promise.all([tools.remove({ id: "a" }), tools.list({}), tools.remove({ id: "b" })]); return 1;',
    asks: [['1. remove({"id": "a"})', '3. remove({"id": "b"})']],
    does: ['list', 'remove a', 'remove b'],
  },
  {
    name: 'a change that depends on the result of another one is a second question',
    code: 'const { removed } = await tools.remove({ id: "a" }); await tools.remove({ id: removed + "2" }); return 1;',
    asks: [['1. remove({"id": "a"})'], ['2. remove({"id": "a2"})']],
    does: ['remove a', 'remove a2'],
  },
  {
    name: 'a read after a change is made ahead and again, and the change that it chooses is in the same question',
    code: 'await tools.remove({ id: "a" }); const { items } = await tools.list({}); await tools.remove({ id: items.at(-1).id }); return 1;',
    asks: [['1. remove({"id": "a"})', '3. remove({"id": "c"})']],
    does: ['list', 'remove a', 'list', 'remove c'],
  },
  {
    name: 'a read that sees the change chooses other arguments, which are asked about',
    code: 'await tools.remove({ id: "a" }); const { items } = await tools.list({}); await tools.remove({ id: items[0].id }); return 1;',
    asks: [['1. remove({"id": "a"})', '3. remove({"id": "a"})'], ['3. remove({"id": "b"})']],
    does: ['list', 'remove a', 'list', 'remove b'],
  },
  {
    name: 'with destructive, other changes are made without a question, and not ahead of it',
    code: 'await tools.note({ id: "x" }); await tools.remove({ id: "a" }); await tools.note({ id: "y" }); await tools.remove({ id: "b" }); return 1;',
    asks: [['2. remove({"id": "a"})', '4. remove({"id": "b"})']],
    does: ['note x', 'remove a', 'note y', 'remove b'],
  },
  {
    name: 'with all, every change is asked about',
    approve: 'all',
    code: 'await tools.note({ id: "x" }); await tools.remove({ id: "a" }); return 1;',
    asks: [['1. note({"id": "x"})', '2. remove({"id": "a"})']],
    does: ['note x', 'remove a'],
  },
  {
    name: 'a rule decides by the tool and the arguments',
    approve: ({ tool: { name }, input }) => name === 'remove' && (input as Item).id === 'b',
    code: 'await tools.remove({ id: "a" }); await tools.remove({ id: "b" }); return 1;',
    asks: [['2. remove({"id": "b"})']],
    does: ['remove a', 'remove b'],
  },
  {
    name: 'a rule that fails or forgets to answer asks',
    approve: (({ input }: { input: Item }) => {
      if (input.id === 'a') throw new Error('broken');
    }) as never,
    code: 'await tools.note({ id: "a" }); await tools.note({ id: "b" }); return 1;',
    asks: [['1. note({"id": "a"})', '2. note({"id": "b"})']],
    does: ['note a', 'note b'],
  },
  {
    name: 'a change in a branch that a result decides is asked about when the branch is taken',
    code: 'const { removed } = await tools.remove({ id: "a" }); if (removed === "a") await tools.remove({ id: "b" }); return 1;',
    asks: [['1. remove({"id": "a"})'], ['2. remove({"id": "b"})']],
    does: ['remove a', 'remove b'],
  },
  {
    name: 'a read that asks the user is not made ahead',
    code: 'await tools.remove({ id: "a" }); await tools.asks({}); await tools.remove({ id: "b" }); return 1;',
    asks: [['1. remove({"id": "a"})', '3. remove({"id": "b"})'], []],
    does: ['remove a', 'asked', 'remove b'],
  },
];

describe('a program whose changes are approved', () => {
  test.each(table)('$name', async ({ approve, code, asks, does }) => {
    const { connect, questions, done } = shop(approve);
    const { isError, text } = await run(await connect(), code);
    expect(isError, text).toBe(false);
    expect(questions.map(shown)).toEqual(asks);
    expect(done).toEqual(does);
  });

  test('is asked about with the numbers of calls, and says what is not shown', async () => {
    const { connect, questions } = shop('all');
    const code =
      'for (let n = 0; n < 32; n++) await tools[n % 2 ? "note" : "remove"]({ id: "i" + n, }); return 1;';
    expect((await run(await connect(), code)).isError).toBe(false);
    expect(questions).toHaveLength(1);
    expect(questions[0]?.split('\n').slice(0, 5)).toEqual([
      'Do you approve these 32 calls that a program makes?',
      'Some of them are too many or too long to be shown in full. You approve all of them.',
      '',
      '    16 × remove',
      '    16 × note',
    ]);
    expect(questions[0]).toContain('    (2 more calls)');
    expect(questions[0]).not.toContain('You are asked again');
  });

  test('is told to the person as one that may need more, if it looks at the result of a change', async () => {
    const { connect, questions } = shop();
    await run(await connect(), 'return (await tools.remove({ id: "a\\u202e\\n2. list" })).removed;');
    expect(questions[0]?.split('\n')).toEqual([
      'Do you approve this call that a program makes?',
      'The program may need more calls. You are asked again before those.',
      '',
      '    1. remove({"id": "a\\u{202e}\\n2. list"})',
    ]);
  });

  test('does nothing that was not approved, and says so to the model', async () => {
    const { connect, answer, done } = shop();
    answer((count) => count === 1);
    const code =
      'const { removed } = await tools.remove({ id: "a" }); await tools.remove({ id: removed + "2" }); return 1;';
    const { isError, text } = await run(await connect(), code);
    expect(isError).toBe(true);
    expect(text).toContain('The user did not approve a call of the program. Nothing more was called.');
    expect(text).toContain('1. remove({"id":"a"}) succeeded');
    expect(text).toContain('2. remove({"id":"a2"}) did not end, or did not begin');
    expect(done).toEqual(['remove a']);
  });

  test('is refused in a host that cannot ask, after its reads and before any change', async () => {
    const { connect, done } = shop();
    const client = await connect({ elicit: undefined });
    const { isError, text } = await run(
      client,
      'await tools.list({}); await tools.remove({ id: "a" }); return 1;',
    );
    expect([isError, text]).toEqual([true, expect.stringContaining('this client cannot ask one')]);
    expect(done).toEqual(['list']);
    expect((await run(client, 'return (await tools.list({})).items.length;')).data).toMatchObject({
      result: 3,
    });
  });

  test('changes exactly what was shown, when data have changed between the plan and the run', async () => {
    const { connect, answer, items, questions, done } = shop();
    answer((count) => {
      if (count === 1) items.set('d', 5000);
      return true;
    });
    const before =
      'const { items } = await tools.list({}); for (const one of items) await tools.remove({ id: one.id }); return items.length;';
    // The read was recorded before the question: the new item is not there, and is not removed.
    expect((await run(await connect(), before)).data).toMatchObject({ result: 3 });
    expect(questions.map(shown)).toHaveLength(1);
    expect(done).toEqual(['list', 'remove a', 'remove b', 'remove c']);
    expect([...items.keys()]).toEqual(['d']);
  });

  test('asks again for what new data add after a change', async () => {
    const { connect, answer, items, questions, done } = shop();
    answer((count) => {
      if (count === 1) items.set('d', 5000);
      return count === 1;
    });
    const code =
      'await tools.remove({ id: "a" }); for (const one of (await tools.list({})).items) await tools.remove({ id: one.id }); return 1;';
    const { isError } = await run(await connect(), code);
    expect(questions.map(shown)).toEqual([
      [
        '1. remove({"id": "a"})',
        '3. remove({"id": "a"})',
        '4. remove({"id": "b"})',
        '5. remove({"id": "c"})',
      ],
      ['3. remove({"id": "b"})', '4. remove({"id": "c"})', '5. remove({"id": "d"})'],
    ]);
    expect(isError).toBe(true);
    expect(done).toEqual(['list', 'remove a', 'list']);
  });

  test('may run as a task, which asks the same question once', async () => {
    const { connect, questions, done } = shop();
    const code =
      'const { items } = await tools.list({}); for (const one of items) await tools.remove({ id: one.id }); return items.length;';
    const task = await (await connect()).startTool('run_code', { code });
    expect((await task.result()).data).toMatchObject({ result: 3 });
    expect(questions.map(shown)).toEqual([
      ['2. remove({"id": "a"})', '3. remove({"id": "b"})', '4. remove({"id": "c"})'],
    ]);
    expect(done).toEqual(['list', 'remove a', 'remove b', 'remove c']);
  });

  test('is asked about on the page of the server, if the client cannot ask and the server has fallbacks', async () => {
    const { connect, done } = shop('destructive', {
      fallbacks: { asking: 'url', page: 'https://example.com/ask' },
    });
    const client = await connect({ elicit: undefined });
    const asked = await run(client, 'await tools.list({}); await tools.remove({ id: "a" }); return 1;');
    expect(asked.text).toContain('https://example.com/ask');
    expect(done).toEqual(['list']);
  });

  test('is shown a plan of as many calls as it may make', async () => {
    const { connect, questions, done } = shop();
    const code = 'for (let n = 0; n < 60; n++) await tools.remove({ id: "i" + n }); return 1;';
    const { isError, text } = await run(await connect(), code);
    expect([isError, text]).toEqual([true, expect.stringContaining('more than 40 calls')]);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('Do you approve these 40 calls');
    expect(questions[0]).toContain('The program may need more calls.');
    expect(done).toHaveLength(40);
  });

  test('does not tell of tools that the caller does not have', async () => {
    const { connect, questions } = shop('all');
    const client = await connect({ caller: { subject: 'ada', scopes: [], claims: {} } });
    const program = (name: string): string =>
      `try { await tools.${name}({}); } catch (error) { return error.message.replace("${name}", "x"); }`;
    const hidden = await run(client, program('secret_remove'));
    const unknown = await run(client, program('no_such_tool'));
    expect(hidden.data).toEqual(unknown.data);
    expect(hidden.data).toMatchObject({ result: 'There is no tool x.' });
    expect(questions).toEqual([]);
  });

  test('is bound to its approval: an answer that was given for another program counts for nothing', async () => {
    const { server, done } = shop();
    const call = (code: string, more: object = {}) =>
      server.dispatch({
        id: 1,
        method: 'tools/call',
        params: { name: 'run_code', arguments: { code }, ...more },
        peer: {
          revision: '2026-07-28',
          client: { name: 'evil', version: '1' },
          capabilities: { elicitation: { form: {} } },
          logLevel: undefined,
        },
        signal: new AbortController().signal,
        notify: () => undefined,
        isLocal: true,
      } as never);
    const one = 'await tools.remove({ id: "a" }); return 1;';
    const other = 'await tools.remove({ id: "b" }); return 1;';
    const asked = await call(one);
    expect(asked.resultType).toBe('input_required');
    const [key] = Object.keys(asked['inputRequests'] as object);
    const inputResponses = { [key as string]: { action: 'accept', content: { approve: true } } };
    const requestState = asked['requestState'];
    // The state belongs to the program, and an answer without its question is not one.
    const stolen = await call(other, { inputResponses, requestState }).catch((error: Error) => error);
    const forged = await call(other, { inputResponses }).catch((error: Error) => error);
    expect(done).toEqual([]);
    expect(stolen).toBeInstanceOf(Error);
    expect((forged as { resultType?: string }).resultType).not.toBe('complete');
    await call(one, { inputResponses, requestState });
    expect(done).toEqual(['remove a']);
    // An approval is used once.
    const again = await call(one, { inputResponses, requestState }).catch((error: Error) => error);
    expect(again).toBeInstanceOf(Error);
    expect(done).toEqual(['remove a']);
  });
});
