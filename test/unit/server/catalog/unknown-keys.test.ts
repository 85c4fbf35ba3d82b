import { createServer, DefinitionError, inProcess, memoryStore, prompt, resource, tool } from 'fullmcp';
import { createPlugin } from 'fullmcp/fastify';
import { createHandler, memoryEventLog } from 'fullmcp/http';
import { lmdbStore } from 'fullmcp/lmdb';
import { createNodeHandler, serve } from 'fullmcp/node';
import { serveStdio } from 'fullmcp/stdio';
import { mockServer, recorder, startFaults, testClient } from 'fullmcp/testing';
import { serveWebSocket } from 'fullmcp/websocket';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const base = { name: 'test', version: '1.0.0', logger: () => undefined };

/** As in a JavaScript program, where no compiler checks the keys. */
function unchecked(value: object): never {
  return value as never;
}

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
    throw error;
  }
  throw new Error('The definition was accepted');
}

function problemsOfTool(definition: object): readonly string[] {
  return problemsOf(() => createServer({ ...base, tools: { t: tool(unchecked(definition)) } }));
}

describe('an unknown key in a definition', () => {
  const run = (): string => 'done';

  it.each([
    [{ inputSchema: { type: 'object' }, run }, 'tool "t": "inputSchema" is unknown. Did you mean "input"?'],
    [{ parameters: { type: 'object' }, run }, 'tool "t": "parameters" is unknown. Did you mean "input"?'],
    [
      { outputSchema: { type: 'object' }, run },
      'tool "t": "outputSchema" is unknown. Did you mean "output"?',
    ],
    [{ handler: run }, 'tool "t": "handler" is unknown. Did you mean "run"?'],
    [{ execute: run }, 'tool "t": "execute" is unknown. Did you mean "run"?'],
    [{ descripton: 'x', run }, 'tool "t": "descripton" is unknown. Did you mean "description"?'],
    [{ timeout: 5, run }, 'tool "t": "timeout" is unknown. Did you mean "timeoutMs"?'],
    [
      { annotations: { readOnlyHint: true }, run },
      'tool "t": "annotations.readOnlyHint" is unknown. Did you mean "readOnly"?',
    ],
    [
      { task: { support: 'optional', ttl: 5 }, run },
      'tool "t": "task.ttl" is unknown. Did you mean "ttlMs"?',
    ],
    [
      { idempotency: { window: 5 }, run },
      'tool "t": "idempotency.window" is unknown. Did you mean "windowMs"?',
    ],
    [
      { name: 'add', run },
      'tool "t": "name" is unknown. The name is the key of the definition: { my_name: tool({ … }) }.',
    ],
  ])('of a tool is one mistake with a hint: %o', (definition, problem) => {
    expect(problemsOfTool(definition)).toEqual([problem]);
  });

  it('shows a prompt in the hint for the name of a prompt', () => {
    const prompts = { p: prompt(unchecked({ name: 'p', run })) };
    expect(problemsOf(() => createServer({ ...base, prompts }))).toEqual([
      'prompt "p": "name" is unknown. The name is the key of the definition: { my_name: prompt({ … }) }.',
    ]);
  });

  it('is reported with all known keys if none is similar', () => {
    expect(problemsOfTool({ run, zzz: 1 })).toEqual([
      'tool "t": "zzz" is unknown. Known: title, description, icons, tags, meta, scopes, allow, input, output, handle, annotations, timeoutMs, task, idempotency, use, run, load.',
    ]);
  });

  it('does not hide a problem of its value', () => {
    expect(problemsOfTool({ inputSchema: { a: z.number() }, handler: run })).toEqual([
      'tool "t": "inputSchema" is unknown. Did you mean "input"?',
      'tool "t": "handler" is unknown. Did you mean "run"?',
      expect.stringContaining('wrap it, for example z.object({ … })'),
    ]);
  });

  it('is not checked in place of the right key if that is present', () => {
    expect(problemsOfTool({ run, handler: run, input: { type: 'object' }, inputSchema: 3 })).toEqual([
      'tool "t": "handler" is unknown. Did you mean "run"?',
      'tool "t": "inputSchema" is unknown. Did you mean "input"?',
    ]);
  });

  it('is reported for every kind of definition and for the server, together', () => {
    const problems = problemsOf(() =>
      createServer(
        unchecked({
          ...base,
          instruction: 'Be brief.',
          capabilities: {},
          tasks: { maximum: 3 },
          asking: { maxAge: 5 },
          resources: {
            'a://b': resource(unchecked({ handler: run })),
            'a://c': resource(unchecked({ annotations: { audiance: ['user'] }, read: run })),
          },
          prompts: { p: prompt(unchecked({ arguments: { type: 'object' }, run })) },
          methods: { 'acme/x': { inputSchema: { type: 'object' }, handler: () => ({}) } },
        }),
      ),
    );
    expect(problems).toEqual([
      '"instruction" is unknown. Did you mean "instructions"?',
      '"capabilities" is unknown. The capabilities follow from the definitions: leave them out. `experimental` declares others.',
      '"asking.maxAge" is unknown. Did you mean "maxAgeMs"?',
      '"tasks.maximum" is unknown. Known: ttlMs, pollIntervalMs, maxTasks, maxTasksPerCaller, maxBytesPerCaller, maxTaskBytes, maxAnswerBytes, maxRunning, parkMs, leaseMs.',
      'resource "a://b": "handler" is unknown. Did you mean "read"?',
      'resource "a://c": "annotations.audiance" is unknown. Did you mean "audience"?',
      'prompt "p": "arguments" is unknown. Did you mean "args"?',
      'method "acme/x": "inputSchema" is unknown. Did you mean "params"?',
      'method "acme/x": "handler" is unknown. Did you mean "run"?',
    ]);
  });

  it('is rejected in a later definition, which leaves nothing behind', async () => {
    const server = createServer(base);
    expect(problemsOf(() => server.tool('t', unchecked({ inputSchema: { type: 'object' } }), run))).toEqual([
      'tool "t": "inputSchema" is unknown. Did you mean "input"?',
    ]);
    expect(problemsOf(() => server.resource('a://b', unchecked({ mime: 'x' }), run))).toHaveLength(1);
    expect(problemsOf(() => server.prompt('p', unchecked({ argument: {} }), run))).toHaveLength(1);
    await expect(inProcess(server)('tools/list')).rejects.toThrow('This server has no tools');
  });

  it('is not looked up on the prototype: "toString" and "constructor" are unknown keys as well', () => {
    expect(problemsOfTool({ run, toString: run, constructor: 1 })).toHaveLength(2);
  });
});

describe('createServer', () => {
  it.each([undefined, null, 'name', 5])('explains its parameters when it is called with %o', (options) => {
    expect(() => createServer(options as never)).toThrow(
      'createServer needs an object: createServer({ name, version, tools: { … } })',
    );
  });
});

describe('an unknown option', () => {
  const server = createServer(base);
  const socket = { send() {}, close() {}, addEventListener() {} };
  const bad: object = unchecked({ timeout: 5 });

  it.each<[string, () => unknown, string]>([
    ['createHandler', () => createHandler(server, bad), 'Did you mean "requestTimeoutMs"?'],
    ['createNodeHandler', () => createNodeHandler(server, bad), 'Did you mean "requestTimeoutMs"?'],
    ['createPlugin', () => createPlugin(server, bad), 'Did you mean "requestTimeoutMs"?'],
    ['serveStdio', () => serveStdio(server, bad), 'Known: maxMessageBytes, '],
    ['serveWebSocket', () => serveWebSocket(server, socket, bad), 'Known: maxMessageBytes, '],
    ['inProcess', () => inProcess(server, bad), 'Known: client, '],
    ['memoryStore', () => memoryStore(bad), 'Known: maxEntries, '],
    ['memoryEventLog', () => memoryEventLog(bad), 'Known: maxAgeMs, '],
    ['lmdbStore', () => lmdbStore('/nowhere', bad), 'Did you mean "writeTimeoutMs"?'],
    ['recorder', () => recorder(bad), 'Known: redact, secrets, onLine, keep.'],
    ['mockServer', () => mockServer(bad), 'Known: name, '],
    ['The plan of faults', () => startFaults(unchecked({ seed: 1, timeout: 5 })), 'Known: seed, '],
  ])('of %s is a TypeError with a hint', (name, use, hint) => {
    expect(use).toThrow(TypeError);
    expect(use).toThrow(`${name} has no option "timeout". ${hint}`);
  });

  it('of serve is rejected before the server starts', async () => {
    let started = false;
    const lifespan = async function* (): AsyncGenerator<number, void, void> {
      started = true;
      yield 1;
    };
    const waiting = createServer({ ...base, lifespan });
    await expect(serve(waiting, unchecked({ hostname: 'x', timeoutMs: 5 }))).rejects.toThrow(
      'serve has no option "hostname". Did you mean "host"?\nserve has no option "timeoutMs". Did you mean "requestTimeoutMs"?',
    );
    await expect(serve(waiting, unchecked({ websocket: { maxBytes: 1 } }))).rejects.toThrow(
      'serve has no option "websocket.maxBytes".',
    );
    await expect(serve(waiting, 3000 as never)).rejects.toThrow(
      'serve: the options must be an object, not 3000.',
    );
    expect(started).toBe(false);
  });

  it('of testClient is rejected, and another name for the caller is recognized', async () => {
    await expect(testClient(server, unchecked({ timeout: 5 }))).rejects.toThrow(
      'testClient has no option "timeout". Did you mean "timeoutMs"?',
    );
    await expect(testClient(server, unchecked({ as: { subject: 'ada' } }))).rejects.toThrow(
      'testClient has no option "as". Did you mean "caller"?',
    );
  });
});
