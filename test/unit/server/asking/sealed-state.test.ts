import fc from 'fast-check';
import { createServer, type Middleware, memoryStore, tool } from 'fullmcp';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../src/node.js';
import { McpError } from '../../../../src/protocol/errors.js';
import { type Binding, createSeal, type SealOptions } from '../../../../src/server/asking/sealed-state.js';
import { modern } from '../../../support/http/modern.js';

const secret = 'a secret of more than thirty-two characters';
const other = 'another secret of more than 32 characters';
const hour = 3_600_000;
const binding: Binding = { principal: 'ann', method: 'tools/call', name: 'deploy', args: { a: 1, b: [2] } };

function makeSeal(options: Partial<SealOptions> = {}) {
  return createSeal({
    server: 'ours',
    secrets: [secret],
    maxAgeMs: hour,
    maxBytes: 65_536,
    usedStates: memoryStore(),
    onEphemeral: () => undefined,
    ...options,
  });
}

const seal = makeSeal();

/** Expects an error of the protocol, and nothing else. */
async function expectRejected(opening: Promise<unknown>): Promise<void> {
  const error = await opening.then(
    (content) => expect.unreachable(`opened: ${JSON.stringify(content)}`),
    (reason: unknown) => reason,
  );
  expect(McpError.is(error) && error.toWire('2026-07-28').code).toBe(-32602);
}

afterEach(() => void vi.useRealTimers());

const json = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { maxKeys: 5 });
const bindings = fc.record({ principal: fc.string(), method: fc.string(), name: fc.string(), args: json });

/** The opened value equals the sealed one, after JSON. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a sealed state', () => {
  test('opens for its own call, and returns the sealed value', async () => {
    await fc.assert(
      fc.asyncProperty(json, bindings, async (content, where) => {
        const opened = await seal.open(await seal.close({ j: content }, where), where);
        expect(opened['j']).toEqual(asJson(content));
      }),
    );
  });

  test('reveals nothing of its contents, and is never the same twice', async () => {
    const content = { j: { answer: 'forty-two' } };
    const [one, two] = [await seal.close(content, binding), await seal.close(content, binding)];
    expect(one).not.toBe(two);
    for (const part of (one as string).split('.'))
      expect(Buffer.from(part, 'base64url').toString('latin1')).not.toContain('forty-two');
  });

  test('is rejected when any bit of it is flipped', async () => {
    // Contents of three lengths: base64 leaves no, two or four bits unused at the end.
    for (const text of ['', 'x', 'xx']) {
      const state = await seal.close({ j: text }, binding);
      for (let at = 0; at < state.length; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const flipped = String.fromCharCode(state.charCodeAt(at) ^ (1 << bit));
          await expectRejected(seal.open(state.slice(0, at) + flipped + state.slice(at + 1), binding));
        }
      }
    }
  });

  test('is rejected when it is shortened, extended, or mixed from two', async () => {
    const state = await seal.close({ j: 1 }, binding);
    for (let length = 0; length < state.length; length++)
      await expectRejected(seal.open(state.slice(0, length), binding));
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), async (more) => {
        await expectRejected(seal.open(state + more, binding));
        await expectRejected(seal.open(more + state, binding));
      }),
    );
    const [, , iv] = (await seal.close({ j: 2 }, binding)).split('.');
    const [version, id, , bytes] = state.split('.');
    await expectRejected(seal.open([version, id, iv, bytes].join('.'), binding));
  });

  test('is rejected when it is made up', async () => {
    await fc.assert(fc.asyncProperty(fc.string(), (state) => expectRejected(seal.open(state, binding))));
    await expectRejected(seal.open('x'.repeat(1_000_000), binding));
  });

  test('is rejected for any other call', async () => {
    const different = bindings.filter((where) => JSON.stringify(where) !== JSON.stringify(binding));
    await fc.assert(
      fc.asyncProperty(
        different,
        fc.subarray(['principal', 'method', 'name', 'args'] as const, { minLength: 1 }),
        async (where, fields) => {
          const changed = fields.filter(
            (field) => JSON.stringify(where[field]) !== JSON.stringify(binding[field]),
          );
          fc.pre(changed.length > 0);
          const presented = {
            ...binding,
            ...Object.fromEntries(changed.map((field) => [field, where[field]])),
          };
          await expectRejected(seal.open(await seal.close({ j: 1 }, binding), presented));
        },
      ),
    );
  });

  test('is rejected for a call whose fields are equal only when concatenated', async () => {
    const state = await seal.close({ j: 1 }, { ...binding, method: 'ab', name: 'c' });
    await expectRejected(seal.open(state, { ...binding, method: 'a', name: 'bc' }));
    const quoted = await seal.close({ j: 1 }, { ...binding, principal: 'a","b' });
    await expectRejected(seal.open(quoted, { ...binding, principal: 'a', method: 'b' }));
  });

  test('does not depend on the order of the arguments', async () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, inner]) => [key, shuffled(inner)]),
      );
    };
    await fc.assert(
      fc.asyncProperty(json, async (args) => {
        const state = await seal.close({ j: 1 }, { ...binding, args });
        expect((await seal.open(state, { ...binding, args: shuffled(args) }))['j']).toBe(1);
      }),
    );
    const state = await seal.close({ j: 1 }, { ...binding, args: { list: [1, 2] } });
    await expectRejected(seal.open(state, { ...binding, args: { list: [2, 1] } }));
  });

  test('is rejected by a server with another name, even with the same secret', async () => {
    const state = await seal.close({ j: 1 }, binding);
    await expectRejected(makeSeal({ server: 'staging' }).open(state, binding));
    expect(await makeSeal().open(state, binding)).toMatchObject({ j: 1 });
  });

  test('distinguishes numbers that JSON.stringify prints alike', async () => {
    const state = await seal.close({ j: 1 }, { ...binding, args: { n: 0 } });
    await expectRejected(seal.open(state, { ...binding, args: { n: -0 } }));
    const negative = await seal.close({ j: 1 }, { ...binding, args: { n: -0 } });
    expect(await seal.open(negative, { ...binding, args: { n: -0 } })).toMatchObject({ j: 1 });
    for (const n of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN])
      await expect(seal.close({ j: 1 }, { ...binding, args: { deep: [{ n }] } })).rejects.toMatchObject({
        code: 'invalid_params',
        message: expect.stringContaining(`the number ${n}`),
      });
  });

  test('is rejected once it is too old, to the millisecond, with an error that says so', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const state = await seal.close({ j: 1 }, binding);
    vi.setSystemTime(1_000_000 + hour - 1);
    expect(await seal.open(state, binding)).toMatchObject({ j: 1 });
    vi.setSystemTime(1_000_000 + hour);
    await expectRejected(seal.open(state, binding));
    await expect(seal.open(state, binding)).rejects.toThrow(/expired: call again without it/);
  });

  test('has a size limit, with an error that says what to do', async () => {
    const small = makeSeal({ maxBytes: 200 });
    expect(await small.open(await small.close({ j: 'x'.repeat(100) }, binding), binding)).toBeDefined();
    await expect(small.close({ j: 'x'.repeat(200) }, binding)).rejects.toThrow(
      /have \d+ bytes, more than asking\.maxBytes \(200\)\. Return less from steps/,
    );
    await expect(small.close({ j: 'ü'.repeat(100) }, binding)).rejects.toMatchObject({
      code: 'internal_error',
    });
  });

  test('can be used only once if uses are recorded, and a call that it does not belong to does not use it up', async () => {
    const once = makeSeal({ once: true });
    const [one, two] = [await once.close({ j: 1 }, binding), await once.close({ j: 2 }, binding)];
    expect(await once.open(one, binding)).toMatchObject({ j: 1 });
    await expectRejected(once.open(one, binding));
    expect(await once.open(two, binding)).toMatchObject({ j: 2 });

    const third = await once.close({ j: 3 }, binding);
    await expectRejected(once.open(third, { ...binding, principal: 'bob' }));
    expect(await once.open(third, binding)).toMatchObject({ j: 3 });
  });

  test('can be used only once if it says so itself, and others as often as the client likes', async () => {
    const [one, other] = [await seal.close({ o: 1 }, binding), await seal.close({ j: 2 }, binding)];
    expect(await seal.open(one, binding)).toBeDefined();
    await expectRejected(seal.open(one, binding));
    for (let n = 0; n < 3; n++) expect(await seal.open(other, binding)).toMatchObject({ j: 2 });
  });

  test('is not used up if its use cannot be recorded, and the client is told to retry', async () => {
    const memory = memoryStore({ maxEntries: 1 });
    await memory.write([{ do: 'put', key: 'somebody:else', value: {} }]);
    const onUnrecorded = vi.fn();
    const once = makeSeal({ once: true, usedStates: memory, onUnrecorded });
    const state = await once.close({ j: 1 }, binding);
    for (let n = 0; n < 2; n++)
      await expect(once.open(state, binding)).rejects.toMatchObject({
        code: 'overloaded',
        message: expect.stringMatching(/^The answers were not used.* Retry later with the same answers/),
      });
    expect(onUnrecorded).toHaveBeenCalledTimes(2);
    await memory.write([{ do: 'delete', key: 'somebody:else' }]);
    expect(await once.open(state, binding)).toMatchObject({ j: 1 });
    await expectRejected(once.open(state, binding));
  });

  test('is not used up by answers that are too large for it', async () => {
    const once = makeSeal({ once: true, maxBytes: 200 });
    const state = await once.close({ j: 'x'.repeat(100) }, binding);
    await expect(once.open(state, binding, { a: 'x'.repeat(100) })).rejects.toMatchObject({
      code: 'invalid_params',
      message: expect.stringMatching(
        /inputResponses is too large.*earlier rounds.*the limit is 200.*Send shorter answers/,
      ),
    });
    expect(await once.open(state, binding, { a: 'short' })).toBeDefined();
  });
});

describe('the secret of a server', () => {
  test('can be rotated: the new one in front opens an old state, but the old one does not open a new state', async () => {
    const [before, after] = [makeSeal({ secrets: [other] }), makeSeal({ secrets: [secret, other] })];
    const old = await before.close({ j: 'old' }, binding);
    expect(await after.open(old, binding)).toMatchObject({ j: 'old' });
    const fresh = await after.close({ j: 'new' }, binding);
    await expectRejected(before.open(fresh, binding));
    expect(await seal.open(fresh, binding)).toMatchObject({ j: 'new' });
    await expectRejected(seal.open(old, binding));
  });

  test('must be long enough, wherever it comes from', () => {
    const short = 'x'.repeat(31);
    expect(() => makeSeal({ secrets: [short] })).toThrow(/32 characters.*openssl/);
    expect(() => makeSeal({ secrets: [secret, short] })).toThrow(/32 characters/);
    expect(() => makeSeal({ secrets: undefined }).provide(short)).toThrow(/32 characters/);
    expect(() => createServer({ name: 'a', version: '1', secret: short })).toThrow(/32 characters/);
  });

  test('is generated if it is missing, with one warning', async () => {
    const onEphemeral = vi.fn();
    const [one, two] = [makeSeal({ secrets: undefined, onEphemeral }), makeSeal({ secrets: undefined })];
    const state = await one.close({ j: 1 }, binding);
    await one.close({ j: 2 }, binding);
    expect(await one.open(state, binding)).toMatchObject({ j: 1 });
    expect(onEphemeral).toHaveBeenCalledOnce();
    await expectRejected(two.open(state, binding));
  });

  test('is used from then on if it is provided after the first question, and open calls are not lost', async () => {
    const open = makeSeal({ secrets: undefined });
    const early = await open.close({ j: 'early' }, binding);
    open.provide(secret);
    expect(await seal.open(await open.close({ j: 'late' }, binding), binding)).toMatchObject({ j: 'late' });
    expect(await open.open(early, binding)).toMatchObject({ j: 'early' });
    await expectRejected(seal.open(early, binding));
  });

  test('may be provided before the first question, and counts only if the program sets none', async () => {
    const onEphemeral = vi.fn();
    const open = makeSeal({ secrets: undefined, onEphemeral });
    open.provide(secret);
    expect(await seal.open(await open.close({ j: 1 }, binding), binding)).toMatchObject({ j: 1 });
    const own = makeSeal();
    own.provide(other);
    expect(await seal.open(await own.close({ j: 1 }, binding), binding)).toMatchObject({ j: 1 });
    expect(onEphemeral).not.toHaveBeenCalled();
  });
});

test.each([
  [{ secret: [] }, /"secret" must have at least one/],
  [
    { asking: { maxAgeMs: Number.POSITIVE_INFINITY } },
    /"asking\.maxAgeMs" must be an integer, 1 or more, not /,
  ],
  [{ asking: { maxAgeMs: Number.NaN } }, /maxAgeMs/],
  [{ asking: { maxAgeMs: -1 } }, /maxAgeMs/],
  [{ asking: { maxBytes: 0 } }, /"asking\.maxBytes" must be an integer, 1 or more, not /],
])('options for questions that make no sense are rejected when the server is created: %o', (options, why) => {
  expect(() => createServer({ name: 'a', version: '1', ...options })).toThrow(why);
});

describe('a state over the wire', () => {
  const ask = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };
  const login: Middleware = (call, next) => {
    const subject = call.http?.header('x-user');
    return next(subject === undefined ? call : { ...call, auth: { subject, scopes: [], claims: {} } });
  };
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const inputResponses = { sure: { action: 'accept', content: { ok: true } } };

  interface Parts {
    readonly name?: string;
    readonly args?: object;
    readonly user?: string;
    readonly state?: string;
  }

  async function serveTools(
    options: Pick<Parameters<typeof createServer>[0], 'secret' | 'asking' | 'logger'> = { secret },
  ) {
    const sure = tool({
      input: { type: 'object' },
      run: async (_, ctx) => `ok: ${(await ctx.ask('sure', ask)).ok}`,
    });
    const big = tool({
      run: async (_, ctx) => {
        await ctx.step('much', () => 'x'.repeat(70_000));
        return ctx.ask('sure', ask);
      },
    });
    const server = createServer({
      name: 'a',
      version: '1',
      logger: () => undefined,
      use: [login],
      tools: { sure, same: sure, big },
      ...options,
    });
    const serving = await serve(server, { port: 0, signals: false });
    async function call({ name = 'sure', args = { a: 1, b: 2 }, user = 'ann', state }: Parts = {}) {
      const more = state === undefined ? {} : { requestState: state, inputResponses };
      const params = { name, arguments: args, ...more };
      const { text } = await modern(serving.url, 'tools/call', params, { meta, headers: { 'x-user': user } });
      return JSON.parse(text);
    }
    const first = async (): Promise<string> => (await call()).result.requestState;
    return { call, first, [Symbol.asyncDispose]: () => serving.close() };
  }

  const refusal = { code: -32602, message: expect.stringContaining('params.requestState') };

  test('is valid for its call, whatever the order of its arguments', async () => {
    await using server = await serveTools();
    const { result } = await server.call({ args: { b: 2, a: 1 }, state: await server.first() });
    expect(result.content[0].text).toBe('ok: true');
  });

  test.each<[string, (state: string) => Parts]>([
    ['changed', (state) => ({ state: `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}` })],
    ['truncated', (state) => ({ state: state.slice(0, -4) })],
    ['extended', (state) => ({ state: `${state}-TAMPERED` })],
    ["another principal's", (state) => ({ state, user: 'bob' })],
    ["another tool's", (state) => ({ state, name: 'same' })],
    ["other arguments'", (state) => ({ state, args: { a: 1, b: 3 } })],
  ])('that is %s is an error, not a result', async (_, presented) => {
    await using server = await serveTools();
    const { error, result } = await server.call(presented(await server.first()));
    expect(result).toBeUndefined();
    expect(error).toEqual(refusal);
  });

  test('is rejected if it is sealed with a foreign secret, or has been used', async () => {
    await using ours = await serveTools();
    await using foreign = await serveTools({ secret: other });
    await using both = await serveTools({ secret: [secret, other], asking: { once: true } });
    const state = await foreign.first();
    expect((await ours.call({ state })).error).toEqual(refusal);
    expect((await both.call({ state })).result.content[0].text).toBe('ok: true');
    expect((await both.call({ state })).error).toEqual(refusal);
    expect((await foreign.call({ state: await both.first() })).error).toEqual(refusal);
    expect((await ours.call({ state: await both.first() })).result.content[0].text).toBe('ok: true');
  });

  test('is rejected after it has expired', async () => {
    await using server = await serveTools({ secret, asking: { maxAgeMs: 1000 } });
    vi.useFakeTimers({ toFake: ['Date'] });
    const state = await server.first();
    vi.setSystemTime(Date.now() + 1000);
    const { error } = await server.call({ state });
    expect(error).toEqual({ code: -32602, message: expect.stringContaining('has expired') });
  });

  test('that would be too large is an error with the remedy', async () => {
    await using server = await serveTools();
    const { error } = await server.call({ name: 'big', args: {} });
    expect(error).toEqual({
      code: -32603,
      message: expect.stringMatching(
        /more than asking\.maxBytes \(65536\), so "sure" was not started\. Return less from steps/,
      ),
    });
  });

  test('causes one warning with the remedy if another process sealed it with another secret', async () => {
    const log = vi.fn();
    await using ours = await serveTools({ secret, logger: log });
    await using foreign = await serveTools({ secret: other });
    for (let times = 0; times < 2; times++)
      expect((await ours.call({ state: await foreign.first() })).error).toEqual(refusal);
    expect(log.mock.calls).toEqual([
      ['warning', expect.stringMatching(/encrypted with another secret.*MCP_SECRET.*MCP_CLUSTER_URL/)],
    ]);
  });

  test('that no server has made, or that was changed, causes no warning', async () => {
    const log = vi.fn();
    await using server = await serveTools({ secret, logger: log });
    const [version, id, iv, sealed] = (await server.first()).split('.') as [string, string, string, string];
    const changed = `${sealed.slice(0, -4)}AAAA`;
    const states = [
      '',
      'nonsense',
      'a.b.c.d',
      `${version}.${id}.${iv}.${changed}`,
      `v1.AAAAAAAA.${iv}.${sealed}`,
    ];
    for (const state of [...states, `${version}.not an id.${iv}.${sealed}`])
      expect((await server.call({ state })).error).toMatchObject({ code: -32602 });
    expect(log).not.toHaveBeenCalled();
  });

  test('causes one warning with the remedy if there is no secret', async () => {
    const log = vi.fn();
    await using server = await serveTools({ logger: log });
    expect(log).not.toHaveBeenCalled();
    await server.call({ state: await server.first() });
    await server.first();
    expect(log.mock.calls).toEqual([['warning', expect.stringMatching(/No secret.*MCP_SECRET/)]]);
  });
});
