import { runInNewContext } from 'node:vm';
import { createServer, type InProcess, inProcess, jsonSchema, type Server, tool } from 'fullmcp';
import { type QuickJSOptions, quickjs } from 'fullmcp/code';
import { afterAll, describe, expect, test } from 'vitest';
import { escapes, reaching, wrappers } from '../../support/code/hostile/escapes.js';
import {
  calling,
  computing,
  type Exhausting,
  keeping,
  native,
  nesting,
  waiting,
} from '../../support/code/hostile/exhausting.js';
import { poisoned, tampering } from '../../support/code/hostile/poison.js';

// Programs of a hostile caller on a server, each beside a program of another caller, in the same two threads.

const object = jsonSchema({ type: 'object' });
const numbers = (...names: readonly string[]) =>
  jsonSchema<Record<string, number>>({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
  });
/** A server with limits of its own for programs. */
const attacked = (limits: QuickJSOptions): Server =>
  createServer({
    name: 'attacked',
    version: '1.0.0',
    logger: () => undefined,
    code: { engine: quickjs({ threads: 2, memoryBytes: 12_582_912, ...limits }), maxCalls: 50 },
    tools: {
      echo: tool({ input: object, run: (input) => input as object }),
      x: tool({ input: object, run: (input) => input as object }),
      list: tool({ run: () => [{ id: 1 }] as never }),
      fail: tool({
        run: () => {
          throw new Error('a secret of the process');
        },
      }),
      poison: tool({
        input: numbers('at'),
        run: ({ at = 0 }) => poisoned[at]?.[0] ?? '',
      }),
      add: tool({
        input: numbers('a', 'b'),
        run: ({ a = 0, b = 0 }) => ({ sum: a + b }),
      }),
    },
  });
const server = attacked({ maxSteps: 2_000_000 });
// For attacks with more programs than there is room for.
const small = attacked({ maxSteps: 100_000, maxPrograms: 16 });

const mallory = inProcess(server, { caller: { subject: 'mallory' } });
const ada = inProcess(server, { caller: { subject: 'ada' } });
afterAll(async () => {
  await server.close();
  await small.close();
});

/** How a program has ended: the value that it returned, or the words that the model reads. */
interface Ended {
  readonly value?: unknown;
  readonly says: string;
}

async function run(call: InProcess, code: string): Promise<Ended> {
  const { structuredContent, content, isError } = await call('tools/call', {
    name: 'run_code',
    arguments: { code },
  });
  const says = (content as readonly { text?: string }[]).map(({ text }) => text).join('\n');
  const value = (structuredContent as { result?: unknown } | undefined)?.result;
  return isError === true ? { says } : { value, says: 'returned' };
}

let round = 0;

/** Runs a program of Mallory beside one of Ada, which must not notice. */
async function attack(code: string): Promise<Ended> {
  const from = round++;
  const [ended, own] = await Promise.all([run(mallory, code), run(ada, sums(from))]);
  expect(own).toEqual({ value: summed(from), says: 'returned' });
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(ended.says).not.toContain('secret of the process');
  return ended;
}

const sums = (from: number): string => `let sum = ${from};
for (let n = 0; n < 3; n++) ({ sum } = await tools.add({ a: sum, b: [n].concat(1).length }));
if (globalThis.out !== undefined || Object.keys(globalThis).includes('it')) throw new Error('another program was here');
return { sum, text: JSON.stringify({ from: ${from} }) };`;
const summed = (from: number): object => ({ sum: from + 6, text: `{"from":${from}}` });

const short = (source: string): string => (source.length > 90 ? `${source.slice(0, 90)}…` : source);
const named = (all: readonly Exhausting[]): readonly (readonly [string, string, RegExp])[] =>
  all.map(([source, says]) => [short(source), source, says]);

test('there are at least 200 hostile programs, and all are different', () => {
  const all = [
    ...escapes,
    ...wrappers,
    ...[...computing, ...native, ...keeping, ...nesting, ...waiting, ...calling].map(([source]) => source),
    ...poisoned.map(([text, body]) => `${text} ${body}`),
    ...tampering.map(([source]) => source),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(200);
});

describe('a program does not reach the process', () => {
  test.each(escapes.map((each) => [short(each), each]))('by %s', async (_, expression) => {
    const { value, says } = await attack(reaching(expression));
    if (value === undefined) expect(says).toMatch(/^(Line \d+: )?(\w*Error|The program )/);
    else if (String(value).startsWith('threw '))
      expect(value).toEqual([expect.stringMatching(/^threw \w*Error$/)]);
    else expect(value).toEqual([]);
  });

  test('although many of these programs do so in a node:vm', async () => {
    let reached = 0;
    for (const expression of escapes.filter((each) => !each.startsWith('import('))) {
      const call = async (args: unknown) => args;
      const tools = {
        echo: call,
        x: call,
        list: async () => [{}],
        fail: async () => Promise.reject(new Error()),
      };
      const globals = { tools, console: { log: () => undefined }, ToolError: Error };
      const found: unknown = await runInNewContext(`(async () => {${reaching(expression)}})()`, globals);
      if (Array.isArray(found) && found.includes('process')) reached++;
    }
    expect(reached).toBeGreaterThan(10);
  });

  test.each(wrappers.map((each) => [short(each), each]))('by the source %j', async (_, source) => {
    expect((await attack(source)).says).toMatch(/^(Line \d+: )?SyntaxError: /);
  });
});

describe('a program ends with a sentence', () => {
  test.each(named(computing))('if it computes too long: %s', async (_, source, says) => {
    expect((await attack(source)).says).toMatch(says);
  });

  test.each(named(native))('if it cannot be interrupted: %s', async (_, source, says) => {
    const attacking = attack(source);
    // The server answers other calls while the program computes.
    const first = await Promise.race([
      attacking,
      ada('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }),
    ]);
    expect(first).toMatchObject({ structuredContent: { sum: 3 } });
    expect((await attacking).says).toMatch(says);
  });

  test.each(named(keeping))('if it keeps too much: %s', async (_, source, says) => {
    expect((await attack(source)).says).toMatch(says);
  });

  test.each(named(nesting))('if it nests too deeply: %s', async (_, source, says) => {
    const { says: said } = await attack(source);
    // Some depths fit in the stack.
    if (said !== 'returned') expect(said).toMatch(says);
    expect(await run(ada, 'const one: number = 1; return one;')).toEqual({ value: 1, says: 'returned' });
  });

  test.each(named(waiting))('if it waits for nothing: %s', async (_, source, says) => {
    expect((await attack(source)).says).toMatch(says);
  });

  test.each(named(calling))('if it calls, prints or returns too much: %s', async (_, source, says) => {
    expect((await attack(source)).says).toMatch(says);
  });
});

describe('a program gets a result as a value', () => {
  test.each(poisoned.map(([text, body, value], at) => [short(text), at, body, value] as const))(
    'not as code: %j (%i)',
    async (_, at, body, value) => {
      const ended = await attack(`const it = await tools.poison({ at: ${at} }); ${body}`);
      if (value instanceof RegExp)
        expect(ended.value === undefined ? ended.says : String(ended.value)).toMatch(value);
      else expect(ended.value).toEqual(value);
    },
  );
});

describe('a program that breaks the language breaks only itself', () => {
  test.each(tampering.map(([source, value]) => [short(source), source, value] as const))(
    '%s',
    async (_, source, value) => {
      const ended = await attack(source);
      if (value instanceof RegExp)
        expect(ended.value === undefined ? ended.says : JSON.stringify(ended.value)).toMatch(value);
      else expect(ended.value).toEqual(value);
    },
  );
});

describe('a caller that takes all it can get', () => {
  const many = inProcess(small, { caller: { subject: 'mallory' } });
  const few = inProcess(small, { caller: { subject: 'ada' } });

  test('does not keep the programs of another caller from their end', { timeout: 180_000 }, async () => {
    const sources = [...native, ...native, ...native, ...native].map(([source]) => source);
    const attacking = sources.map((source) => run(many, source).catch((error) => ({ says: String(error) })));
    const own = await Promise.all(Array.from({ length: 8 }, (_, at) => run(few, sums(at))));
    expect(own).toEqual(Array.from({ length: 8 }, (_, at) => ({ value: summed(at), says: 'returned' })));
    // Ada has not waited for Mallory.
    const states = await Promise.all(
      attacking.map((each) => Promise.race([each.then(() => 'ended'), Promise.resolve('computing')])),
    );
    expect(states).toContain('computing');
    for (const { says } of await Promise.all(attacking))
      expect(says).toMatch(/could not be interrupted|Retry later|computed for more than|steps|out of memory/);
  });

  test('does not keep another caller from starting a program', async () => {
    const attacking = Array.from({ length: 80 }, () =>
      run(many, 'for (;;) await 0;').catch((error) => ({ says: String(error) })),
    );
    expect(await run(few, sums(1))).toEqual({ value: summed(1), says: 'returned' });
    const says = (await Promise.all(attacking)).map((each) => each.says);
    expect(says.filter((each) => /Retry later/.test(each)).length).toBeGreaterThan(0);
    expect(says.every((each) => /Retry later|steps|computed for more than/.test(each))).toBe(true);
    // All of them compute until they are ended.
  }, 120_000);
});
