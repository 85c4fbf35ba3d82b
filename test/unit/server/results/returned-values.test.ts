import { runInNewContext } from 'node:vm';
import { createServer, image, inProcess, prompt, resource, ToolError, text, tool, user } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { everyWire } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openSession } from '../../../support/http/sessions.js';

/** Runs a handler once, and returns the outcome and the operator's log. */
async function returning(value: unknown): Promise<{ outcome: Record<string, unknown>; logged: string }> {
  return calling(tool({ run: () => value }));
}

async function calling(definition: unknown): Promise<{ outcome: Record<string, unknown>; logged: string }> {
  const log = vi.fn();
  const server = createServer({
    name: 'test',
    version: '1',
    logger: log,
    tools: { it: definition as never },
  });
  const outcome = await inProcess(server)('tools/call', { name: 'it' });
  return { outcome, logged: log.mock.calls.map(([, , error]) => (error as Error).message).join('\n') };
}

class Money {
  cents = 250;
  get euros(): number {
    return this.cents / 100;
  }
}

class Hidden {
  #secret = 1;
  reveal(): number {
    return this.#secret;
  }
}

class Row {
  id = 1;
  name = 'Ada';
}

class Price {
  #cents = 250;
  toJSON(): object {
    return { cents: this.#cents };
  }
}

const circular: Record<string, unknown> = { a: { b: [1] } };
(circular['a'] as Record<string, unknown>)['parent'] = circular;

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { in: value };
  return value;
}

const bytes = 'Return image(bytes, mimeType), audio(bytes, mimeType) or embed(uri, bytes)';

describe('a return value that cannot be sent as it is', () => {
  it.each<[string, unknown, string]>([
    [
      'a Map',
      { rows: [1, { at: new Map([['a', 1]]) }] },
      'rows[1].at is a Map. Return Object.fromEntries(map)',
    ],
    ['a Map itself', new Map(), 'it is a Map. Return Object.fromEntries(map)'],
    ['a Set', { tags: new Set(['a']) }, 'tags is a Set. Return [...set].'],
    ['an Error', { error: new Error('boom') }, 'error is an Error. Throw it, or return its message.'],
    [
      'an Error with fields',
      [Object.assign(new Error('boom'), { code: 'ENOENT' })],
      '[0] is an Error. Throw it, or return its message.',
    ],
    ['a ToolError', new ToolError('no'), 'it is an Error. Throw it, or return its message.'],
    ['a Response', new Response('x'), 'it is a Response. Return await response.json()'],
    ['a Blob', { file: new Blob(['x']) }, 'file is a Blob. Return await blob.text()'],
    ['a stream', new Blob(['x']).stream(), 'it is a stream. Read it to its end first.'],
    ['a promise in an object', { p: Promise.resolve(1) }, 'p is a promise. Await it first.'],
    ['a promise in an array', [Promise.resolve(1)], '[0] is a promise. Await it first.'],
    ['a Buffer', Buffer.from('hi'), `it is a Uint8Array, which holds bytes. ${bytes}`],
    ['a typed array', { data: new Float32Array(2) }, 'data is a Float32Array, which holds bytes.'],
    ['an ArrayBuffer', new ArrayBuffer(2), `it is an ArrayBuffer. ${bytes}`],
    ['a function', { run: () => 1 }, 'run is a function. Call it, or leave it out.'],
    ['a function itself', () => 1, 'it is a function. Call it, or leave it out.'],
    ['a class', { Row }, 'Row is a class. Leave it out.'],
    ['a symbol', { kind: Symbol('x') }, 'kind is a symbol. Return a string.'],
    ['a BigInt', { id: 10n }, 'id is a BigInt. Return String(value)'],
    ['NaN', { average: Number.NaN }, 'average is NaN, a number that JSON does not have. Return null'],
    ['Infinity', Number.POSITIVE_INFINITY, 'it is Infinity, a number that JSON does not have.'],
    ['an invalid Date', { at: new Date('x') }, 'at is an invalid Date. Return null, or leave it out.'],
    ['a circle', circular, 'a.parent refers back to the value itself. Return a copy without it.'],
    ['a circle of arrays', [[circular]], '[0][0].a.parent refers back to [0][0].'],
    [
      'a generator',
      (function* () {
        yield 1;
      })(),
      'it is a generator. Return [...generator].',
    ],
    [
      'an async generator in an object',
      {
        rows: (async function* () {
          yield 1;
        })(),
      },
      'rows is an async generator.',
    ],
    ['an iterator', [1].values(), 'it is an iterator. Collect its values in an array first.'],
    [
      'headers',
      { headers: new Headers() },
      'headers is a Headers object. Return Object.fromEntries(headers).',
    ],
    ['a RegExp', { pattern: /x/ }, 'pattern is a RegExp. Return its source.'],
    [
      'getters of a class',
      { price: new Money() },
      'price is an instance of Money, whose getters (euros) JSON leaves out. Return a plain object, or give Money a toJSON().',
    ],
    [
      'a class without fields',
      new Hidden(),
      'it is an instance of Hidden without a field that JSON can see.',
    ],
    ['a key that is not a name', { 'a b': { '"': new Set() } }, '["a b"]["\\""] is a Set.'],
    ['a value from toJSON', { toJSON: () => ({ at: new Map() }) }, 'at is a Map.'],
    ['a value that is too deep', nested(2000), 'is nested deeper than 1000 levels.'],
    [
      'a handwritten async iterable',
      { rows: { async *[Symbol.asyncIterator]() {} } },
      'rows is an async iterable. Collect its values in an array first.',
    ],
    ['a handwritten iterable', { *[Symbol.iterator]() {} }, 'it is an iterable.'],
    ['an object of symbols', { [Symbol('a')]: 1 }, 'it has only symbols as keys, which JSON leaves out.'],
    [
      'an invalid Date of another realm',
      { at: runInNewContext('new Date("x")') },
      'at is an invalid Date. Return null, or leave it out.',
    ],
    ['a boxed NaN', { n: Object(Number.NaN) }, 'n is NaN, a number that JSON does not have.'],
    ['a toJSON() that returns nothing', { toJSON() {} }, 'it has a toJSON() that returns nothing.'],
    [
      'a Map in the metadata of a block',
      { ...text('x'), _meta: { at: new Map([[1, 2]]) } },
      '_meta.at is a Map.',
    ],
    [
      'a BigInt in a block among others',
      ['a', { ...text('x'), _meta: { id: 1n } }],
      '[1]._meta.id is a BigInt.',
    ],
    [
      'NaN in annotations',
      [text('x', { annotations: { priority: Number.NaN } })],
      '[0].annotations.priority is NaN',
    ],
  ])('fails the call, and the log says where it is and what to write: %s', async (_, value, sentence) => {
    const { outcome, logged } = await returning(value);
    expect(outcome).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Internal error \(ref [0-9a-f]{8}\)$/) }],
    });
    expect(logged).toContain('The returned value cannot be sent: ');
    expect(logged).toContain(sentence);
  });

  it.each<[string, object, string]>([
    [
      'a promise in a block',
      { content: [{ ...text('x'), _meta: Promise.resolve({}) }] },
      'in "content": [0]._meta is a promise.',
    ],
    [
      'a circle in a block',
      { content: [{ ...text('x'), _meta: circular }] },
      'in "content": [0]._meta.a.parent refers back',
    ],
    ['metadata that is a string', { content: [text('x')], _meta: 'trace' }, '"_meta" must be an object.'],
    ['metadata that is an array', { content: [text('x')], _meta: [1] }, '"_meta" must be an object.'],
    [
      'the type of a task',
      { content: [text('x')], resultType: 'task' },
      '"resultType" of a handler\'s result can only be "complete".',
    ],
    [
      'the type of a question',
      { content: [text('x')], resultType: 'input_required' },
      '"resultType" of a handler\'s result',
    ],
  ])('fails in a full result, and the log says so: %s', async (_, value, sentence) => {
    const { outcome, logged } = await returning(value);
    expect(outcome).toMatchObject({ isError: true, resultType: 'complete' });
    expect(logged).toContain(sentence);
  });

  it('fails in the blocks of a prompt and in the contents of a resource too', async () => {
    const log = vi.fn();
    const _meta = { at: new Map([[1, 2]]) };
    const server = createServer({
      name: 'x',
      version: '1',
      logger: log,
      prompts: {
        block: prompt({ run: () => ({ ...text('x'), _meta }) }),
        message: prompt({ run: () => [{ ...user('x'), _meta }] }),
      },
      resources: { 'a://b': resource({ read: () => ({ uri: 'a://b', text: 'x', _meta }) }) },
    });
    const call = inProcess(server);
    await expect(call('prompts/get', { name: 'block' })).rejects.toMatchObject({ code: 'internal_error' });
    await expect(call('prompts/get', { name: 'message' })).rejects.toMatchObject({ code: 'internal_error' });
    await expect(call('resources/read', { uri: 'a://b' })).rejects.toMatchObject({ code: 'internal_error' });
    const logged = log.mock.calls.map(([, , error]) => (error as Error).message);
    expect(logged).toEqual([
      expect.stringContaining('cannot be sent: _meta.at is a Map.'),
      expect.stringContaining('cannot be sent, in [0]: _meta.at is a Map.'),
      expect.stringContaining('cannot be sent: _meta.at is a Map.'),
    ]);
  });

  it('is the cause of the logged error if it is an error itself', async () => {
    const log = vi.fn();
    const boom = new Error('boom');
    const server = createServer({
      name: 'x',
      version: '1',
      logger: log,
      tools: { it: tool({ run: () => ({ boom }) }) },
    });
    await inProcess(server)('tools/call', { name: 'it' });
    expect(log.mock.calls[0]?.[2]).toMatchObject({ cause: boom });
  });

  it('is explained on stderr if the server has no logger', async () => {
    const stderr = vi.spyOn(console, 'error').mockImplementation(() => {});
    const server = createServer({ name: 'x', version: '1', tools: { it: tool({ run: () => new Map() }) } });
    await using client = await connect(server);
    expect(await client.callTool('it')).toMatchObject({ isError: true });
    expect(stderr.mock.calls.flat().map(String).join(' ')).toContain(
      'it is a Map. Return Object.fromEntries',
    );
    stderr.mockRestore();
  });

  it('fails in a tool with an output schema and in a full result as well', async () => {
    const output = { type: 'object' } as const;
    const withOutput = await calling(tool({ output, run: () => ({ at: new Map() }) }));
    expect(withOutput.logged).toContain('at is a Map.');
    const full = await returning({ content: [text('x')], structuredContent: { a: new Set() } });
    expect(full.logged).toBe(
      'The returned value cannot be sent, in "structuredContent": a is a Set. Return [...set].',
    );
    const meta = await returning({ content: [text('x')], _meta: { 'a/b': 1n } });
    expect(meta.logged).toContain('in "_meta": ["a/b"] is a BigInt.');
  });
});

describe('a value that JSON carries', () => {
  it.each<[string, unknown, unknown]>([
    ['a Date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['fields of a class', { row: new Row() }, { row: { id: 1, name: 'Ada' } }],
    ['a class with toJSON', { price: new Price() }, { price: { cents: 250 } }],
    ['a URL', { at: new URL('http://a.b/') }, { at: 'http://a.b/' }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['undefined fields and holes', { a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
    ['boxed scalars', { a: Object('x'), b: Object(1) }, { a: 'x', b: 1 }],
    ['the same object twice', ((one) => ({ a: one, b: [one] }))({ x: 1 }), { a: { x: 1 }, b: [{ x: 1 }] }],
    ['a deep value', nested(500), nested(500)],
    [
      'data with a field named content',
      { path: 'a.txt', content: 'hello' },
      { path: 'a.txt', content: 'hello' },
    ],
    ['an empty document', { title: 'x', content: [] }, { title: 'x', content: [] }],
    [
      'an array of objects with a type',
      { items: [{ type: 'text', text: 'x' }] },
      { items: [{ type: 'text', text: 'x' }] },
    ],
    [
      'files',
      { files: [{ name: 'a', mimeType: 'image/png' }] },
      { files: [{ name: 'a', mimeType: 'image/png' }] },
    ],
  ])('arrives: %s', async (_, value, expected) => {
    const { outcome, logged } = await returning(value);
    expect(logged).toBe('');
    expect(JSON.parse((outcome['content'] as [{ text: string }])[0].text)).toEqual(expected);
    expect(JSON.parse(JSON.stringify(outcome['structuredContent']))).toEqual(expected);
  });

  it('is awaited if it is a thenable, such as a query builder', async () => {
    // biome-ignore lint/suspicious/noThenProperty: it is what query builders are
    const query = { then: (done: (rows: unknown) => void) => done({ rows: 2 }) };
    expect((await returning(query)).outcome).toMatchObject({ structuredContent: { rows: 2 } });
  });
});

describe('handwritten content', () => {
  const png = image('AA==', 'image/png');

  it.each<[string, unknown, readonly unknown[]]>([
    ['an image and its caption', [png, 'caption'], [png, text('caption')]],
    ['a caption and its image', ['caption', png], [text('caption'), png]],
    ['a caption and its image in a full result', { content: ['caption', png] }, [text('caption'), png]],
  ])('is sent as blocks: %s', async (_, value, content) => {
    const { outcome } = await returning(value);
    expect(outcome['content']).toEqual(content);
    expect(outcome).not.toHaveProperty('structuredContent');
  });

  it.each<[string, unknown, string]>([
    [
      'a string',
      { content: 'text' },
      'it looks like a result, but "content" is not an array of content blocks. Return the string itself',
    ],
    ['strings only', { content: ['chapter 1'] }, `content[0] is a string. Write text('…').`],
    [
      'a misspelt type',
      { content: [{ type: 'txt', text: 'x' }] },
      'content[0] has the type "txt". Did you mean "text"?',
    ],
    ['no type', { content: [text('x'), { text: 'x' }] }, 'content[1] has no "type".'],
    [
      'a missing field',
      { content: [{ type: 'image', data: 'AA==' }] },
      'content[0] needs a string "mimeType".',
    ],
    [
      'bytes',
      { content: [{ type: 'image', data: Buffer.from('x'), mimeType: 'image/png' }] },
      'content[0] needs a string "data".',
    ],
    [
      'a resource without uri',
      { content: [{ type: 'resource', resource: { text: 'x' } }] },
      'content[0] needs a "resource" with "uri"',
    ],
    ['an error without content', { isError: true }, 'it looks like a result, but has no "content".'],
    ['isError as a string', { content: [text('x')], isError: 'yes' }, '"isError" must be true or false.'],
    [
      'a misspelt content',
      { contents: [text('x')] },
      '"contents" holds content blocks. Did you mean "content"?',
    ],
    [
      'a misspelt isError',
      { content: [text('x')], isErr: true },
      'a field "isErr" that results do not have. Did you mean "isError"?',
    ],
    [
      'the result of a client',
      { content: [text('x')], data: 1 },
      'a field "data" that results do not have. Did you mean "structuredContent"?',
    ],
    ['an object among blocks', [png, { a: 1 }], '[1] is not a content block, but others are.'],
    ['an image inside data', { rows: [{ photo: png }] }, 'rows[0].photo is a content block inside data'],
  ])('fails if it cannot be intended: %s', async (_, value, sentence) => {
    const { outcome, logged } = await returning(value);
    expect(outcome).toMatchObject({ isError: true });
    expect(logged).toContain(sentence);
  });

  it('is made from the structured content if it is missing', async () => {
    const { outcome } = await returning({ structuredContent: { a: 1 }, isError: true });
    expect(outcome).toMatchObject({ structuredContent: { a: 1 }, isError: true, content: [text('{"a":1}')] });
  });

  it('is data if the output schema says so', async () => {
    const output = z.object({ content: z.array(z.object({ type: z.string(), text: z.string() })) });
    const value = { content: [{ type: 'text', text: 'x' }] };
    const { outcome } = await calling(tool({ output, run: () => value }));
    expect(outcome['structuredContent']).toEqual(value);
  });
});

describe('an image', () => {
  const make = image as (data: unknown, mimeType?: unknown) => { data: string };

  it.each<[string, unknown]>([
    ['a data: URL', 'data:image/png;base64,Zm9v'],
    ['base64 in lines', 'Zm\n9v\n'],
    ['bytes in a larger buffer', new Uint8Array([0, 102, 111, 111, 0]).subarray(1, 4)],
    ['an ArrayBuffer', new Uint8Array([102, 111, 111]).buffer],
  ])('can be made from %s', (_, data) => {
    expect(make(data, 'image/png').data).toBe('Zm9v');
  });

  it.each<[string, unknown[], string]>([
    [
      'a path',
      ['/tmp/x.png', 'image/png'],
      'image() needs bytes or a base64 string, and "/tmp/x.png" is not base64. For a file: image(await readFile(path), …).',
    ],
    ['a URL', ['https://a.b/c', 'image/png'], 'is not base64'],
    [
      'a data: URL that is not base64',
      ['data:image/svg+xml,<svg/>', 'image/svg+xml'],
      'this data: URL is not base64',
    ],
    ['a promise', [Promise.resolve(1), 'image/png'], 'not a promise: await it first'],
    ['a Blob', [new Blob([]), 'image/png'], 'not a Blob: pass await value.arrayBuffer()'],
    ['an array', [[1, 2], 'image/png'], 'not an array: pass Uint8Array.from(array)'],
    ['undefined', [undefined, 'image/png'], 'not undefined'],
    [
      'base64 without a MIME type',
      ['Zm9v'],
      `image() needs a MIME type as its second argument, such as 'image/png'`,
    ],
  ])('cannot be made from %s', (_, args, sentence) => {
    expect(() => Reflect.apply(make, undefined, args)).toThrow(sentence);
  });

  it('is checked at both ends if it is large, and not in between', () => {
    const large = 'A'.repeat(8_000_000);
    expect(make(large, 'image/png').data).toBe(large);
    expect(() => make(`${large}.png`, 'image/png')).toThrow('is not base64');
    expect(() => make(`./${large}`, 'image/png')).toThrow('is not base64');
    expect(() => make(`${large}.${large.slice(1)}`, 'image/png')).not.toThrow();
  });
});

describe('text() and ToolError', () => {
  it('require a string', () => {
    expect(() => text(42 as never)).toThrow('text() needs a string, not a value of type number');
    expect(() => text(null as never)).toThrow('text() needs a string, not null');
    expect(() => new ToolError({ code: 1 } as never)).toThrow(
      'A ToolError needs a string that the model can read',
    );
  });
});

/** Reads a resource, gets a prompt or calls a method, and returns the outcome and the log. */
async function request(
  definitions: object,
  method: string,
  params: object,
): Promise<{ outcome?: object; logged: string }> {
  const log = vi.fn();
  const server = createServer({ name: 'test', version: '1', logger: log, ...definitions });
  const outcome = await inProcess(server)(method, params as never).catch(() => undefined);
  const logged = log.mock.calls.map(([, , error]) => (error as Error).message).join('\n');
  return outcome === undefined ? { logged } : { outcome, logged };
}

describe('the return value of a resource', () => {
  const reading = (value: unknown): ReturnType<typeof request> =>
    request({ resources: { 'a://b': resource({ read: () => value }) } }, 'resources/read', { uri: 'a://b' });
  const part = { uri: 'a://b', text: 'x' };

  it.each<[string, unknown, string]>([
    ['a Map', { a: new Map() }, 'a is a Map.'],
    ['a function', () => 1, 'it is a function.'],
    ['a Response', new Response('x'), 'it is a Response.'],
    ['contents without uri', { text: 'x', mimeType: 'text/html' }, 'has no "uri". Add uri: ctx.uri.'],
    ['bad contents', { contents: 'x' }, '"contents" must be an array'],
    ['an object among contents', [part, { a: 1 }], '[1] is not contents, but others are.'],
  ])('fails if it cannot be sent: %s', async (_, value, sentence) => {
    const { outcome, logged } = await reading(value);
    expect(outcome).toBeUndefined();
    expect(logged).toContain(sentence);
  });

  it.each<[string, unknown, unknown]>([
    [
      'bytes and text',
      [Buffer.from('foo'), 'caption'],
      [
        { uri: 'a://b', mimeType: 'application/octet-stream', blob: 'Zm9v' },
        { uri: 'a://b', mimeType: 'text/plain', text: 'caption' },
      ],
    ],
    ['contents', { contents: [part] }, [part]],
    [
      'an array of strings, which is JSON',
      ['a'],
      [{ uri: 'a://b', mimeType: 'application/json', text: '["a"]' }],
    ],
    [
      'data with a field named contents',
      { contents: 'x', pages: 1 },
      [{ uri: 'a://b', mimeType: 'application/json', text: '{"contents":"x","pages":1}' }],
    ],
  ])('arrives: %s', async (_, value, contents) => {
    expect((await reading(value)).outcome).toMatchObject({ contents });
  });
});

describe('the return value of a prompt', () => {
  const getting = (value: unknown): ReturnType<typeof request> =>
    request({ prompts: { p: prompt({ run: () => value as never }) } }, 'prompts/get', { name: 'p' });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'it is not a message. A prompt returns a string'],
    ['a number among messages', [user('x'), 1], '[1] is not a message.'],
    [
      'another role',
      [{ role: 'system', content: 'x' }],
      '[0] has a "role" that is neither "user" nor "assistant".',
    ],
    [
      'several blocks',
      { messages: [{ role: 'user', content: [text('x')] }] },
      'the content of messages[0] is an array.',
    ],
    [
      'a misspelt block',
      { role: 'user', content: { type: 'txt' } },
      'the content of it has the type "txt". Did you mean "text"?',
    ],
    ['messages that are not an array', { messages: 'x' }, '"messages" must be an array.'],
  ])('fails if it cannot be sent: %s', async (_, value, sentence) => {
    const { outcome, logged } = await getting(value);
    expect(outcome).toBeUndefined();
    expect(logged).toContain(sentence);
  });

  it('may have a string as its content', async () => {
    const { outcome } = await getting({ messages: [{ role: 'assistant', content: 'x' }] });
    expect(outcome).toMatchObject({ messages: [{ role: 'assistant', content: text('x') }] });
  });
});

describe('the return value of a custom method', () => {
  const running = (value: unknown): ReturnType<typeof request> =>
    request({ methods: { 'acme/x': { run: () => value } } }, 'acme/x', {});

  it.each<[string, unknown, string]>([
    ['a string', 'x', 'a method returns an object. Put the value in a field of one.'],
    ['an array', [1], 'a method returns an object.'],
    ['a Map', new Map(), 'it is a Map.'],
    ['a Set inside', { a: new Set() }, 'a is a Set.'],
  ])('fails if it cannot be sent: %s', async (_, value, sentence) => {
    const { outcome, logged } = await running(value);
    expect(outcome).toBeUndefined();
    expect(logged).toContain(sentence);
  });

  it('may be undefined', async () => {
    expect((await running(undefined)).outcome).toMatchObject({ resultType: 'complete' });
  });
});

describe('the return value of a step', () => {
  it('fails the call if JSON would change it, because a later round would get another value', async () => {
    const { outcome, logged } = await calling(
      tool({ run: async (_, ctx) => ctx.step('load', () => ({ rows: new Map() })) }),
    );
    expect(outcome).toMatchObject({ isError: true });
    expect(logged).toBe(
      'The result of the step "load" cannot be kept: rows is a Map. Return Object.fromEntries(map), or [...map] if its keys are not strings.',
    );
  });

  it('may be undefined, or a date, which is a string in every round', async () => {
    const { outcome } = await calling(
      tool({
        run: async (_, ctx) => [await ctx.step('a', () => undefined), await ctx.step('b', () => new Date(0))],
      }),
    );
    expect(outcome).toMatchObject({ content: [{ text: '[null,"1970-01-01T00:00:00.000Z"]' }] });
  });
});

describe('structured content that is not an object', () => {
  const values = { list: [1, 'a', { b: null }], number: 42, yes: true, none: null, zero: 0 };
  const server = createServer({
    name: 'test',
    version: '1',
    tools: {
      ...Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, tool({ run: () => value })]),
      ),
      declared: tool({ output: z.array(z.number()), run: () => [1, 2] }),
      written: tool({ run: () => ({ content: [text('Two numbers')], structuredContent: [1, 2] }) }),
      inner: tool({ run: async (_, ctx) => ({ got: (await ctx.call('list')).structuredContent }) }),
    },
  });
  const call = (name: string): Promise<Record<string, unknown>> => inProcess(server)('tools/call', { name });

  it.each(Object.entries(values))('is not sent if the tool declares no output: %s', async (name, value) => {
    const outcome = await call(name);
    expect(outcome).not.toHaveProperty('structuredContent');
    expect(outcome).toMatchObject({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  });

  it('is sent if the tool declares it, or returns it next to another text', async () => {
    expect(await call('declared')).toMatchObject({ structuredContent: [1, 2] });
    expect(await call('written')).toMatchObject({
      structuredContent: [1, 2],
      content: [{ text: 'Two numbers' }],
    });
  });

  it('is available to a handler that calls the tool', async () => {
    expect(await call('inner')).toMatchObject({ structuredContent: { got: values.list } });
  });

  it.each<[string, unknown, unknown]>([
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a URL', new URL('a://b'), 'a://b'],
    ['a value that prints itself as a number', { toJSON: () => 5 }, 5],
    [
      'a Date in a full result',
      { content: [text('see')], structuredContent: new Date(0) },
      '1970-01-01T00:00:00.000Z',
    ],
  ])('may also be %s, judged after JSON', async (_, value, data) => {
    const server = createServer({
      name: 'x',
      version: '1',
      tools: { it: tool({ run: () => value as never }) },
    });
    await everyWire(server, async (client) => {
      const result = await client.callTool('it');
      // Before 2025-06-18 there is only the text, and a full result has its own.
      if (result.text !== 'see') expect(result).toMatchObject({ data, isError: false });
    });
    const { outcome } = await returning(value);
    expect(typeof outcome['structuredContent']).not.toBe('object');
    await using serving = await serve(server, { port: 0, signals: false });
    const older = await openSession(serving.url, '2025-06-18');
    const { text } = await older.request('tools/call', { name: 'it' });
    expect(JSON.parse(text).result.structuredContent).toEqual({ result: data });
  });

  it('is returned to a fullmcp client as the value, over every wire', async () => {
    await everyWire(server, async (client) => {
      for (const [name, value] of Object.entries(values)) {
        expect((await client.callTool(name)).data).toEqual(value);
        expect((await client.callTool(name)).unwrap()).toEqual(value);
      }
      expect((await client.callTool('declared')).unwrap()).toEqual([1, 2]);
    });
  });
});
