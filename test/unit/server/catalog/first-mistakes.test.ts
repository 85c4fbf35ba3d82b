import { createServer, defineWith, inProcess, McpError, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

const base = { name: 'test', version: '1.0.0', logger: () => undefined };

describe('an McpError with a code that does not exist', () => {
  const make = (code: unknown) => () => new McpError(code as never, 'x');

  it('is an error that lists all codes', () => {
    expect(make('not_found')).toThrow(
      'An McpError cannot have the code "not_found". Known: parse_error, invalid_request, ',
    );
    expect(make('toString')).toThrow('cannot have the code "toString"');
    expect(make(undefined)).toThrow('cannot have the code a value of type undefined');
  });

  it('is an error that, for a number, suggests its name or how to send a custom number', () => {
    expect(make(-32602)).toThrow("not the number -32602: new McpError('invalid_params', message).");
    expect(make(-1)).toThrow("new McpError('remote_error', message, { number: -1 }).");
  });

  it('reaches the log, but not the client', async () => {
    const log = vi.fn();
    const server = createServer({ ...base, logger: log, tools: { it: tool({ run: make('not_found') }) } });
    expect(await inProcess(server)('tools/call', { name: 'it' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Internal error \(ref [0-9a-f]{8}\)$/) }],
    });
    expect(log.mock.calls[0]?.[2]).toMatchObject({
      message: expect.stringContaining('cannot have the code "not_found"'),
    });
  });
});

describe('a lifespan', () => {
  it('that is an async function instead of an async generator is refused when the server is created', () => {
    expect(() => createServer({ ...base, lifespan: (async () => ({ db: 1 })) as never })).toThrow(
      '"lifespan": The lifespan must be an async generator that yields the state: async function* ()',
    );
    const { createServer: create } = defineWith({ lifespan: (async () => ({ db: 1 })) as never });
    expect(() => create({ ...base })).toThrow('"lifespan": The lifespan must be an async generator');
    const indirect = (): AsyncGenerator<number, void, void> =>
      (async function* () {
        yield 1;
      })();
    expect(() => createServer({ ...base, lifespan: indirect })).not.toThrow();
  });

  it.each([
    ['returns the state', () => ({ db: 1 })],
    ['returns nothing', () => undefined],
  ])(
    'that %s instead of being a generator fails calls, and the log and start() explain it',
    async (_, lifespan) => {
      const log = vi.fn();
      const server = createServer({
        ...base,
        logger: log,
        lifespan: lifespan as never,
        tools: { it: tool({ run: () => 1 }) },
      });
      await expect(inProcess(server)('tools/call', { name: 'it' })).rejects.toThrow('Internal error');
      expect(log.mock.calls[0]?.[2]).toMatchObject({
        message: expect.stringContaining(
          'must be an async generator that yields the state: async function* ()',
        ),
      });
      await expect(server.start()).rejects.toThrow('must be an async generator');
      await server.close();
    },
  );

  it('that ends without a yield is an error', async () => {
    const server = createServer({ ...base, lifespan: async function* () {} as never });
    await expect(server.start()).rejects.toThrow('The lifespan ended without a yield.');
  });
});

describe('two templates', () => {
  const read = (): string => 'x';

  it.each([
    ['a://{x}', 'a://{y}'],
    ['a://{x}/b/{y}', 'a://{y}/b/{x}'],
    ['a://{+path}', 'a://{+rest}'],
    ['a://{/a,b}', 'a://{/c,d}'],
    ['a://{list*}', 'a://{items*}'],
  ])('that match the same URIs are rejected: %s and %s', (first, second) => {
    const resources = { [first]: resource({ read }), [second]: resource({ read }) };
    expect(() => createServer({ ...base, resources })).toThrow(
      `resource "${second}" matches the same URIs as "${first}", which would always be read instead`,
    );
  });

  it.each([
    ['a://{x}', 'b://{x}'],
    ['a://{x}', 'a://{+x}'],
    ['a://{?x}', 'a://{?y}'],
    ['a://{x}', 'a://{x}/{y}'],
    ['a://{x}', 'a://{x*}'],
  ])('that do not match exactly the same URIs are accepted: %s and %s', (first, second) => {
    createServer({ ...base, resources: { [first]: resource({ read }), [second]: resource({ read }) } });
  });

  it('that match the same URIs may be defined one after the removal of the other', () => {
    const server = createServer(base);
    const handle = server.resource('a://{x}', {}, read);
    expect(() => server.resource('a://{y}', {}, read)).toThrow('matches the same URIs');
    handle.remove();
    server.resource('a://{y}', {}, read);
  });
});

describe('an unknown name', () => {
  const server = createServer({
    ...base,
    tools: { add: tool({ run: () => 1 }), list_issues: tool({ run: () => 1 }) },
    prompts: { review: prompt({ run: () => 'x' }) },
    resources: { 'a://{x}': resource({ read: () => undefined }) },
  });
  const call = inProcess(server);

  it('is answered with a similar name, if there is one', async () => {
    await expect(call('tools/call', { name: 'addd' })).rejects.toThrow(
      'Unknown tool: addd. Did you mean "add"?',
    );
    await expect(call('tools/call', { name: 'ad' })).rejects.toThrow('Unknown tool: ad. Did you mean "add"?');
    await expect(call('tools/call', { name: 'da' })).rejects.toThrow(/^Unknown tool: da$/);
    await expect(call('tools/call', { name: 'listIssues' })).rejects.toThrow('Did you mean "list_issues"?');
    await expect(call('prompts/get', { name: 'reveiw' })).rejects.toThrow('Did you mean "review"?');
    await expect(call('tools/call', { name: 'zzzzz' })).rejects.toThrow(/^Unknown tool: zzzzz$/);
  });

  it.each(['tools/call', 'prompts/get', 'resources/read'])(
    'is invalid, not an internal error, if it is not a string and cannot be printed: %s',
    async (method) => {
      const name = { toString: 1 };
      await expect(call(method, { name, uri: name })).rejects.toMatchObject({ code: 'invalid_params' });
    },
  );

  it('is not repeated in full', async () => {
    const long = 'x'.repeat(100_000);
    const refusals = await Promise.all(
      [
        call('tools/call', { name: long }),
        call('prompts/get', { name: long }),
        call('resources/read', { uri: `a://${long}` }),
        call('completion/complete', {
          ref: { type: 'ref/prompt', name: long },
          argument: { name: 'a', value: '' },
        }),
        call('completion/complete', {
          ref: { type: 'ref/resource', uri: long },
          argument: { name: 'a', value: '' },
        }),
      ].map((failing) => failing.catch((error: McpError) => JSON.stringify(error.toWire('2026-07-28')))),
    );
    for (const refusal of refusals) expect((refusal as string).length).toBeLessThan(4096);
  });
});

describe('a typo in arguments', () => {
  const input = z.object({
    title: z.string(),
    body: z.string().optional(),
    at: z.object({ city: z.string() }).optional(),
  });
  const call = inProcess(createServer({ ...base, tools: { it: tool({ input, run: () => 1 }) } }));
  const explain = async (args: object): Promise<string> => {
    const { content } = await call('tools/call', { name: 'it', arguments: args as never });
    return (content as [{ text: string }])[0].text;
  };

  it('is reported if a required field is missing, although the schema allows unknown fields', async () => {
    expect(await explain({ titel: 'x' })).toBe(
      'Invalid arguments for it. title: required (a string), missing; titel: unknown field, did you mean "title"? Valid fields: title, body, at.',
    );
    expect(await explain({ title: 'x', at: { cty: 'Rome' } })).toContain(
      'at.cty: unknown field, did you mean "city"?',
    );
  });

  it('is not suspected in known fields, or in names that do not resemble the missing one', async () => {
    expect(await explain({ body: 'x', other: 1 })).toBe(
      'Invalid arguments for it. title: required (a string), missing. Valid fields: title, body, at.',
    );
  });
});
