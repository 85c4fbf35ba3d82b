import { createServer, DefinitionError, inProcess, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
    throw error;
  }
  throw new Error('The definition was accepted');
}

describe('mistakes in definitions', () => {
  it('are reported together, each with its name', () => {
    const problems = problemsOf(() =>
      createServer({
        name: '',
        version: '1.0.0',
        tools: {
          'bad name': tool({ run: () => 1 }),
          remote: tool({
            input: { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } },
            run: () => 1,
          }),
          nothing: {} as never,
          notEven: null as never,
          mirrored: tool({
            input: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
            run: () => 1,
          }),
        },
        resources: {
          relative: resource({ read: () => 1 }),
          'users://{id': resource({ read: () => 1 }),
          // @ts-expect-error The compiler finds it too.
          'x://{a}': resource({ complete: { b: () => [] }, read: () => 1 }),
          'y://z': { kind: 'resource', options: {} } as never,
        },
        prompts: {
          // @ts-expect-error The compiler finds it too.
          p: prompt({ args: z.object({ a: z.string() }), complete: { b: () => [] }, run: () => 'x' }),
        },
        methods: { 'tools/list': { run: () => ({}) }, plain: { run: () => ({}) } },
      }),
    );
    expect(problems).toHaveLength(13);
    for (const name of [
      '"name"',
      '"bad name"',
      '"remote"',
      '"nothing"',
      '"notEven"',
      '"mirrored"',
      '"relative"',
      '"users://{id"',
      '"x://{a}"',
      '"y://z"',
      '"p"',
      '"tools/list"',
      '"plain"',
    ]) {
      expect(
        problems.filter((problem) => problem.includes(name)),
        name,
      ).not.toHaveLength(0);
    }
  });

  it('say how to write a custom method, for which there is no function', () => {
    expect(() => createServer({ ...quiet, methods: { 'acme/search': (() => ({})) as never } })).toThrow(
      'method "acme/search": it is not a definition; write { run: (params, ctx) => … }',
    );
  });

  it('make a single sentence if there is only one', () => {
    expect(() => createServer({ ...quiet, tools: { 'a b': tool({ run: () => 1 }) } })).toThrow(
      /^A mistake in the server's definition: tool "a b": a tool name has 1 to 128 characters/,
    );
  });

  it('are found in later additions, too', () => {
    const server = createServer({ ...quiet, tools: { a: tool({ run: () => 1 }) } });
    expect(problemsOf(() => server.tool('a', {}, () => 2))[0]).toMatch(/"a" is defined twice/);
    expect(problemsOf(() => server.tool('b c', {}, () => 2))[0]).toMatch(/^tool "b c"/);
    expect(problemsOf(() => server.resource('nope', {}, () => 2))[0]).toMatch(
      /^resource "nope": a resource needs an absolute URI/,
    );
    expect(problemsOf(() => server.prompt('', {}, () => 'x'))[0]).toMatch(
      /^prompt "": a prompt needs a name/,
    );
  });

  it.each([
    [{ pageSize: 0 }, /pageSize/],
    [{ listTtlMs: -1 }, /listTtlMs/],
    [{ resources: { 'a://b': resource({ ttlMs: 0.5, read: () => 1 }) } }, /ttlMs/],
    [{ tools: { a: tool({ meta: { 'bad key': 1 }, run: () => 1 }) } }, /"bad key"/],
    [{ tools: { a: tool({ meta: { progressToken: 1 }, run: () => 1 }) } }, /uses this key itself/],
    [{ tools: { a: tool({ icons: [{ src: 'javascript:alert(1)' }], run: () => 1 }) } }, /https: or data:/],
  ])('are rejected: %j', (options, expected) => {
    expect(problemsOf(() => createServer({ ...quiet, ...options } as never)).join()).toMatch(expected);
  });

  it.each([
    [{ logger: console }, '"logger" must be a function, not an object.'],
    [{ logger: null }, '"logger" must be a function, not null.'],
    [{ onError: 'log' }, '"onError" must be a function, not a string.'],
    [{ user: { name: 'Ada' } }, '"user" must be a function, not an object.'],
    [{ lifespan: {} }, '"lifespan" must be a function, not an object.'],
    [{ use: () => 1 }, '"use" must be an array of functions: [(call, next) => next(call)]'],
    [{ use: [undefined] }, '"use" must be an array of functions: [(call, next) => next(call)]'],
    [{ tools: { a: tool({ run: 1 as never }) } }, 'tool "a": "run" must be a function'],
    [{ tools: { a: tool({ load: 'a.js' as never }) } }, 'tool "a": "load" must be a function'],
    [{ tools: { a: tool({}) } }, 'tool "a": it has neither "run" nor "load"'],
    [{ prompts: { p: prompt({ run: 'Hi' as never }) } }, 'prompt "p": "run" must be a function'],
    [{ methods: { 'acme/a': {} } }, 'method "acme/a": it has no "run"'],
    [
      { resources: { 'a://{b}': resource({ read: () => 1, complete: { b: ['c'] as never } }) } },
      'resource "a://{b}": "complete.b" must be a function: (prefix) => [\'…\']',
    ],
  ])('are reported for an option that must be a function: %o', (options, problem) => {
    expect(problemsOf(() => createServer({ ...quiet, ...options } as never))).toEqual([problem]);
  });

  it('that affect only some clients are warnings', () => {
    const log = vi.fn();
    createServer({
      ...quiet,
      logger: log,
      tools: { 'a.b': tool({ run: () => 1 }), ['x'.repeat(65)]: tool({ run: () => 1 }) },
    });
    expect(log.mock.calls.map(([level]) => level)).toEqual(['warning', 'warning']);
  });
});

describe('time limits', () => {
  it.each([Number.NaN, -1, '5' as unknown as number])('of %s ms are rejected', (timeoutMs) => {
    const tools = { t: tool({ timeoutMs, run: () => 1 }) };
    expect(problemsOf(() => createServer({ ...quiet, tools }))).toEqual([
      `tool "t": "timeoutMs" must be a number of milliseconds, 0 or more, not ${typeof timeoutMs === 'string' ? '"5"' : timeoutMs}.`,
    ]);
  });

  it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])(
    'of %s ms do not end a call of 20 ms',
    async (timeoutMs) => {
      const slow = () => new Promise((resolve) => setTimeout(resolve, 20, 'done'));
      const server = createServer({ ...quiet, tools: { t: tool({ timeoutMs, run: slow }) } });
      expect(await inProcess(server)('tools/call', { name: 't' })).toMatchObject({
        content: [{ text: 'done' }],
      });
    },
  );
});

it.each([Number.NaN, -1, 0, 1.5, Number.POSITIVE_INFINITY])(
  'a limit of %s for tasks is rejected',
  (value) => {
    const task = { support: 'optional', ttlMs: value } as const;
    expect(problemsOf(() => createServer({ ...quiet, tools: { t: tool({ task, run: () => 1 }) } }))).toEqual([
      `tool "t": "task.ttlMs" must be an integer, 1 or more, not ${value}.`,
    ]);
    for (const name of ['ttlMs', 'pollIntervalMs', 'maxTasks', 'maxTaskBytes'])
      expect(() => createServer({ ...quiet, tasks: { [name]: value } })).toThrow(
        `"tasks.${name}" must be an integer, 1 or more, not ${value}.`,
      );
  },
);
