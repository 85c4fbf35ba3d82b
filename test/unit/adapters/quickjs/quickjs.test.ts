import { type CodeRealms, quickjs } from 'fullmcp/code';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messageOf, returned, runProgram } from '../../../support/code/run-program.js';

let realms: CodeRealms;
/** Programs reach this limit of steps long before that of time, however busy the machine is. */
let fewSteps: CodeRealms;
beforeAll(async () => {
  realms = await quickjs({ maxSteps: 5_000_000, memoryBytes: 12_582_912, threads: 2 }).open();
  fewSteps = await quickjs({ maxSteps: 200_000, threads: 1 }).open();
});
afterAll(() => Promise.all([realms.close(), fewSteps.close()]));

const invoices = [
  { id: 'a', amount: 20 },
  { id: 'b', amount: 2000 },
  { id: 'c', amount: 3000 },
];

describe('a program', () => {
  test('calls tools, which have values and not text, and returns a value', async () => {
    const reminded: string[] = [];
    const run = await runProgram(
      realms,
      `const open = await tools.list_invoices({ status: 'open' });
       for (const i of open.filter((i) => i.amount > 1000)) await tools.remind({ id: i.id });
       return { reminded: open.length };`,
      { list_invoices: () => invoices, remind: ({ id }: { id: string }) => reminded.push(id) },
    );
    expect(returned(run)).toEqual({ reminded: 3 });
    expect(reminded).toEqual(['b', 'c']);
    expect(run.calls[0]).toBe('list_invoices {"status":"open"}');
  });

  test('may be TypeScript, with the lines of its source', async () => {
    const source = `interface Invoice { id: string; amount: number }
const open = (await tools.list({})) as Invoice[];
const total: number = open.reduce((sum: number, one: Invoice): number => sum + one.amount, 0);
if (total > 1) throw new Error('too much');`;
    const run = await runProgram(realms, source, { list: () => invoices });
    expect(run.end).toMatchObject({ kind: 'threw', name: 'Error', message: 'too much', line: 4 });
  });

  test('makes calls in parallel, each with the number of its place', async () => {
    const run = await runProgram(
      realms,
      `const all = await Promise.all([1, 2, 3].map((n) => tools.double({ n })));
       return all.map(({ n }) => n);`,
      { double: ({ n }: { n: number }) => ({ n: 2 * n }) },
    );
    expect(returned(run)).toEqual([2, 4, 6]);
  });

  test('catches the error of a tool, with its code', async () => {
    const run = await runProgram(
      realms,
      `try { await tools.fail({}); } catch (e) { return [e instanceof ToolError, e.name, e.message, e.code]; }`,
      {
        fail: () => {
          throw new Error('no such invoice');
        },
      },
    );
    expect(returned(run)).toEqual([true, 'ToolError', 'no such invoice', 'tool_failed']);
  });

  test('that does not catch the error of a tool ends with the line of the call', async () => {
    const run = await runProgram(realms, `const a = 1;\nconst b = 2;\nawait tools.missing({ a, b });`);
    expect(run.end).toMatchObject({ kind: 'threw', name: 'ToolError', line: 3 });
  });

  test('that is not a program ends with the line of the mistake', async () => {
    const run = await runProgram(realms, `const a = 1;\nconst b = = 2;`);
    expect(run.end).toMatchObject({ kind: 'threw', name: 'SyntaxError', line: 2 });
    const types = await runProgram(realms, `const a: number = 1;\nenum Kind { A }`);
    expect(types.end).toMatchObject({ kind: 'threw', name: 'SyntaxError', line: 2 });
  });

  test('has tools whose names are not identifiers', async () => {
    const run = await runProgram(realms, `return tools['get-user.v2']({ id: 1 });`, {
      'get-user.v2': () => 'Ada',
    });
    expect(returned(run)).toBe('Ada');
  });

  test('prints lines', async () => {
    const run = await runProgram(realms, `console.log('a', { b: 1 }); console.error([2]);`);
    expect(run.printed).toEqual(['a {"b":1}', '[2]']);
  });

  test('that waits for nothing ends at once', async () => {
    const run = await runProgram(realms, `await new Promise(() => {});`);
    expect(run.end.kind).toBe('stuck');
  });

  test.each([
    ['await tools.x([1])', 'x expects one object'],
    ['await tools.x({ n: 1n })', '"n" is a BigInt'],
    ['await tools.x({ m: new Map() })', '"m" is a Map or a Set'],
    ['return { s: new Set() }', '"s" is a Map or a Set'],
    ['const a = {}; a.a = a; return a', 'not JSON'],
  ])('that does %s is told what to do instead', async (source, message) => {
    const run = await runProgram(realms, source);
    expect(messageOf(run)).toContain(message);
    expect(run.calls).toEqual([]);
  });
});

describe('a program runs the same in every run', () => {
  const source = `const a = [Date.now(), Math.random(), new Date().toISOString(), new Date(2024, 0, 1).getTimezoneOffset()];
    await tools.wait({});
    return [...a, Date.now(), Math.random(), [3, 1, 2].sort(), typeof performance, typeof WeakRef, typeof setTimeout];`;

  test('with the same clock, the same random numbers and no time zone', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => runProgram(realms, source, { wait: () => 1 })));
    expect(returned(one as never)).toEqual(returned(other as never));
    expect((returned(one as never) as unknown[])[4]).toBe(1_700_000_001_000);
    expect((returned(one as never) as unknown[]).slice(-3)).toEqual(['undefined', 'undefined', 'undefined']);
  });

  test('and reaches its limits at the same place', async () => {
    const programs = [
      'let n = 0; try { (function f() { n++; f(); })(); } catch { return n; }',
      'const all = []; try { for (;;) all.push({ all }); } catch { return all.length; }',
    ];
    for (const program of programs) {
      const runs = await Promise.all([1, 2, 3].map(() => runProgram(realms, program)));
      const values = runs.map(({ end }) => JSON.stringify(end));
      expect(new Set(values).size).toBe(1);
    }
  });
});

describe('a program that goes too far ends with a sentence', () => {
  test.each([
    ['computes forever', 'for (;;) {}', 'steps'],
    ['catches everything', 'for (;;) { try { for (;;) {} } catch {} }', 'steps'],
    ['makes promises forever', 'const f = () => Promise.resolve().then(f); await f();', 'out of memory'],
    [
      'schedules jobs forever',
      'const f = () => { Promise.resolve().then(f); }; f(); await tools.x({});',
      'The program ',
    ],
    ['backtracks', `/(a+)+$/.test('a'.repeat(40) + 'b')`, 'steps'],
    ['keeps strings', `const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)`, 'out of memory'],
    ['keeps buffers', 'const all = []; for (;;) all.push(new ArrayBuffer(1e6))', 'out of memory'],
    ['nests brackets', `new Function('return ' + '['.repeat(1e5) + ']'.repeat(1e5))`, 'stack'],
    ['recurs', '(function f() { f(); })()', 'stack'],
    ['calls too much at once', 'for (let i = 0; i < 20000; i++) tools.x({ i })', '2000 calls'],
    ['returns too much', `return 'x'.repeat(2e6)`, 'Return less'],
    ['sends too much', `await tools.x({ t: 'x'.repeat(2e6) })`, 'characters'],
    ['names a tool that is too long', `await tools['x'.repeat(300)]({})`, '300 characters, more than 256'],
    [
      'sends too much in all calls',
      `const t = 'x'.repeat(9e5); for (let i = 0; i < 50; i++) tools.x({ t })`,
      'all calls have more than 16000000 characters',
    ],
  ])('if it %s', async (_, source, message) => {
    const run = await runProgram(message === 'steps' ? fewSteps : realms, source, { x: () => 1 });
    expect(messageOf(run)).toContain(message);
  });

  test('if a function of the language cannot be interrupted, and the programs beside it can run again', async () => {
    const realm = realms.realm({ source: `await tools.wait({}); return 1;`, seed: 1, now: 1 });
    const other = realms.realm({ source: `await tools.wait({}); return 1;`, seed: 1, now: 1 });
    await Promise.all([realm.run(), other.run()]);
    const stuck = await runProgram(realms, `const a = []; a.length = 2 ** 32 - 1; a.join('');`);
    expect(messageOf(stuck)).toContain('could not be interrupted');
    const results = await Promise.allSettled(
      [realm, other].map((each) => each.run({ kind: 'value', seq: 1, now: 1, json: '1' })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(
      String((results.find((each) => each.status === 'rejected') as PromiseRejectedResult).reason),
    ).toContain('RealmLost');
    for (const each of [realm, other]) each.end();
    expect(returned(await runProgram(realms, 'return 1'))).toBe(1);
  });

  test('and only so many programs run at the same time', async () => {
    const small = await quickjs({ maxPrograms: 1, threads: 1 }).open();
    const program = { source: 'await tools.x({})', seed: 1, now: 1 };
    const first = small.realm(program);
    expect(() => small.realm(program)).toThrow('Retry later');
    first.end();
    const second = small.realm(program);
    await small.close();
    await expect(second.run()).rejects.toThrow('the server closes');
  });

  test('and one caller has half of the programs, in a part of the threads, where they do not disturb those of others', async () => {
    const shared = await quickjs({ maxPrograms: 4, threads: 2 }).open();
    const open = (caller: string, source: string) => shared.realm({ source, seed: 1, now: 1, caller });
    const endless = `const a = []; a.length = 2 ** 32 - 1; a.join('');`;
    const attacking = ['mallory', 'mallory'].map((caller) => open(caller, endless).run());
    expect(() => open('mallory', 'return 1')).toThrow('2 programs of this caller are running');
    const ended = await Promise.all([open('ada', 'return 1').run(), open('bob', 'return 2').run()]);
    expect(ended.map(({ end }) => end)).toEqual([
      { kind: 'returned', json: '1' },
      { kind: 'returned', json: '2' },
    ]);
    const [first, second] = await Promise.allSettled(attacking);
    expect(first).toMatchObject({ value: { end: { kind: 'limit' } } });
    // It was in the same thread, and can run again.
    expect(second).toMatchObject({ status: 'rejected' });
    await shared.close();
  });
});
