import { createServer, stored, tool } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
import { policy, rateLimit } from 'fullmcp/middleware';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Client } from '../../../src/client/model/client.js';
import { inProcessClient } from '../../support/in-process-client.js';

// Programs of several callers on one server, in one thread, with rules that change while they run.

const note = stored({ name: 'note', schema: z.object({ value: z.string() }), initial: { value: 'nothing' } });
const word = { message: 'Which word?', schema: z.object({ word: z.string() }) };

/** A server whose rules a test changes, and what its tools have done. */
function office(options: object = {}) {
  const rules = { mayPay: true };
  const done: string[] = [];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer({
    name: 'office',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    code: { engine: quickjs({ threads: 1 }), maxCalls: 40 },
    access: {
      allow: (_auth: unknown, _input: unknown, { name }: { readonly name: string }) =>
        !name.startsWith('pay') || rules.mayPay,
    },
    tools: {
      me: tool({ run: (_, { auth }) => ({ subject: auth?.subject }) }),
      pay: tool({
        input: z.object({ n: z.number() }),
        run({ n }, { auth }) {
          done.push(`${auth?.subject} pays ${n}`);
          return { n };
        },
      }),
      forbid: tool({
        run() {
          rules.mayPay = false;
          return {};
        },
      }),
      keep: tool({
        input: z.object({ value: z.string() }),
        run: async ({ value }, ctx) => {
          await ctx.store(note).set({ value });
          return {};
        },
      }),
      kept: tool({ run: (_, ctx) => ctx.store(note).get() }),
      salaries: tool({
        scopes: ['hr'],
        description: 'Lists the salaries of all people',
        run: () => ({ ada: 9000 }),
      }),
      confirm: tool({ run: (_, ctx) => ctx.ask('word', word) }),
      wait: tool({
        async run() {
          done.push('waits');
          await gate;
          return {};
        },
      }),
      long: tool({
        task: 'required',
        async run(_, { auth, signal }) {
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          return { of: auth?.subject };
        },
      }),
    },
    ...options,
  } as never);
  onTestFinished(() => server.close());
  const as = async (subject: string, more: object = {}, scopes: string[] = []): Promise<Client> => {
    const client = await inProcessClient(server, {
      caller: { subject, scopes, claims: {} },
      ...more,
    } as never);
    onTestFinished(() => client.close());
    return client;
  };
  return { server, rules, done, as, release: () => release() };
}

async function run(client: Client, code: string): Promise<{ value: unknown; says: string }> {
  const { data, content } = await client.callTool('run_code', { code });
  const says = (content as readonly { text?: string }[]).map(({ text }) => text).join('\n');
  return { value: (data as { result?: unknown } | undefined)?.result, says };
}

describe('a program of one caller', () => {
  test('neither finds nor calls the tools of another, by no way of naming them', async () => {
    const { as } = office();
    const [ada, eve] = await Promise.all([as('ada', {}, ['hr']), as('eve')]);
    const code = `const found = await tools.search_tools({ query: 'salaries' });
const tries = [];
for (const name of ['salaries', 'salaries ', 'Salaries', './salaries', 'office/salaries'])
  tries.push(await tools[name]({}).then((it) => it.ada, (error) => error.code));
return { isFound: JSON.stringify(found).includes('tools.salaries('), tries };`;
    const [own, other] = await Promise.all([run(ada, code), run(eve, code)]);
    expect(own.value).toMatchObject({ isFound: true });
    expect((own.value as { tries: unknown[] }).tries[0]).toBe(9000);
    expect((other.value as { isFound: boolean }).isFound).toBe(false);
    expect((other.value as { tries: unknown[] }).tries).not.toContain(9000);
  });

  test('does not learn that a tool which a rule hides from it exists', async () => {
    const { as, rules } = office();
    rules.mayPay = false;
    const { value } = await run(
      await as('eve'),
      `const errors = [];
for (const name of ['pay', 'no_such_tool'])
  await tools[name]({}).catch(({ code, message }) => errors.push([code, message.replace(name, '…')]));
return errors;`,
    );
    const [hidden, missing] = value as unknown[];
    expect(hidden).toEqual(missing);
    expect(hidden).toEqual(['invalid_params', expect.any(String)]);
  });

  test('is that of its caller in each of its calls, however many programs run at the same time', async () => {
    const { as } = office();
    const callers = await Promise.all(Array.from({ length: 12 }, (_, at) => as(`caller ${at}`)));
    const code = `const seen = new Set();
for (let n = 0; n < 3; n++) for (const { subject } of await Promise.all([tools.me({}), tools.me({})])) seen.add(subject);
return [...seen];`;
    const all = await Promise.all(callers.map((client) => run(client, code)));
    expect(all.map(({ value }) => value)).toEqual(callers.map((_, at) => [`caller ${at}`]));
  });

  test('leaves nothing in the language for the programs of another', async () => {
    const { as } = office();
    const [ada, eve] = await Promise.all([as('ada'), as('eve')]);
    await run(
      ada,
      `globalThis.secret = 'of ada'; Object.prototype.secret = 'of ada'; Array.prototype.map = () => 'of ada';
Promise.resolve = () => 'of ada'; Symbol.for('of ada'); await tools.me({}); return 1;`,
    );
    const { value } = await run(eve, `return [typeof secret, ({}).secret ?? 'none', [1].map((n) => n)];`);
    expect(value).toEqual(['undefined', 'none', [1]]);
  });

  test('has the state of its caller', async () => {
    const { as } = office();
    const [ada, eve] = await Promise.all([as('ada'), as('eve')]);
    expect((await run(ada, `await tools.keep({ value: 'of ada' }); return tools.kept({});`)).value).toEqual({
      value: 'of ada',
    });
    expect((await run(eve, `return tools.kept({});`)).value).toEqual({ value: 'nothing' });
  });

  test('is a task that nobody else sees, answers or cancels', async () => {
    const { as, done } = office();
    const [ada, eve] = await Promise.all([
      as('ada', { elicit: () => ({ action: 'accept', content: { word: 'mine' } }) }),
      as('eve'),
    ]);
    const task = await ada.startTool('run_code', {
      code: `const { word } = await tools.confirm({}); await tools.pay({ n: 1 }); return word;`,
    });
    for (const request of [
      { method: 'tasks/get', params: { taskId: task.id } },
      { method: 'tasks/cancel', params: { taskId: task.id } },
      {
        method: 'tasks/update',
        params: {
          taskId: task.id,
          inputResponses: { word: { action: 'accept', content: { word: 'of eve' } } },
        },
      },
    ])
      await expect(eve.request(request.method, request.params)).rejects.toThrow();
    expect((await task.result()).data).toMatchObject({ result: 'mine' });
    expect(done).toEqual(['ada pays 1']);
  });
});

describe('a rule that changes while a program runs', () => {
  test('holds for its next call', async () => {
    const { as, done } = office();
    const { value } = await run(
      await as('ada'),
      `await tools.pay({ n: 1 });
await tools.forbid({});
return tools.pay({ n: 2 }).then(() => 'paid', (error) => error.name);`,
    );
    expect(value).toBe('ToolError');
    expect(done).toEqual(['ada pays 1']);
  });

  test('holds for calls that wait for others, because too many run at the same time', async () => {
    const { as, done, rules, release } = office();
    const running = run(
      await as('ada'),
      `const waits = Array.from({ length: 16 }, () => tools.wait({}));
const pays = [1, 2, 3].map((n) => tools.pay({ n }).then(() => 'paid', (error) => error.name));
await Promise.all(waits);
return Promise.all(pays);`,
    );
    await expect.poll(() => done.length).toBe(16);
    rules.mayPay = false;
    release();
    expect((await running).value).toEqual(['ToolError', 'ToolError', 'ToolError']);
    expect(done.filter((each) => each.includes('pays'))).toEqual([]);
  });

  test('holds after a question, and what was called before is not called again', async () => {
    const { as, done, rules } = office();
    const ada = await as('ada', {
      elicit() {
        rules.mayPay = false;
        return { action: 'accept', content: { word: 'yes' } };
      },
    });
    const { value } = await run(
      ada,
      `const first = await tools.pay({ n: 1 });
await tools.confirm({});
return [first.n, await tools.pay({ n: 2 }).catch((error) => error.name)];`,
    );
    expect(value).toEqual([1, 'ToolError']);
    expect(done).toEqual(['ada pays 1']);
  });

  test('holds for a task, and for the search in a program', async () => {
    const { as, done, rules } = office();
    const ada = await as('ada', {
      elicit() {
        rules.mayPay = false;
        return { action: 'accept', content: { word: 'yes' } };
      },
    });
    const task = await ada.startTool('run_code', {
      code: `const finds = async () => JSON.stringify(await tools.search_tools({ query: 'pay' })).includes('tools.pay(');
const before = await finds();
await tools.pay({ n: 1 });
await tools.confirm({});
return [before, await finds(), await tools.pay({ n: 2 }).catch((error) => error.name)];`,
    });
    expect((await task.result()).data).toMatchObject({ result: [true, false, 'ToolError'] });
    expect(done).toEqual(['ada pays 1']);
  });

  test('does not end the programs of others, and a limit of one caller is not that of another', async () => {
    const { as } = office({
      // The program itself is a call, too.
      use: [rateLimit({ tools: { limit: 7, perMs: 86_400_000 } })],
      access: policy({
        default: 'allow',
        rules: [{ effect: 'deny', tools: 'pay', caller: (auth) => auth?.subject === 'eve' }],
      }),
    });
    const [ada, eve] = await Promise.all([as('ada'), as('eve')]);
    const code = `let n = 0;
try { for (; n < 9; n++) await tools.me({}); } catch (error) { return [n, error.code]; }
return n;`;
    const pay = `return tools.pay({ n: 1 }).then(() => 'paid', (error) => error.name);`;
    expect([(await run(ada, pay)).value, (await run(eve, pay)).value]).toEqual(['paid', 'ToolError']);
    const [own, other] = await Promise.all([run(ada, code), run(eve, code)]);
    expect(own.value).toEqual([4, 'overloaded']);
    expect(other.value).toEqual(own.value);
  });
});
