import { createServer, inProcess, McpError, prompt, resource, ToolError, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';

const base = { name: 'test', version: '1.0.0' };
const constraint = Object.assign(new Error('UNIQUE constraint failed: issues.title at 10.0.0.1'), {
  code: 'SQLITE_CONSTRAINT',
});

function build(onError?: (error: unknown) => unknown) {
  const logged: unknown[] = [];
  const throws = (): never => {
    throw constraint;
  };
  const server = createServer({
    ...base,
    logger: (_, message, error) => void logged.push(message, error),
    ...(onError && { onError: onError as () => undefined }),
    use: [
      (call, next) => {
        if (call.params['name'] === 'blocked') throw new ToolError('Closed on Sundays.');
        if (call.params['name'] === 'broken') throw constraint;
        return next(call);
      },
    ],
    tools: {
      insert: tool({ run: throws }),
      outer: tool({ run: async (_, ctx) => ctx.call('insert') }),
      blocked: tool({ run: () => 1 }),
      broken: tool({ run: () => 1 }),
    },
    resources: { 'x://y': resource({ read: throws }) },
    prompts: { blocked: prompt({ run: () => 'x' }), p: prompt({ run: throws }) },
    methods: { 'own/method': { run: throws } },
  });
  return { call: inProcess(server), logged };
}

const failure = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });

describe('onError', () => {
  it('sees the error of a tool, with the call, and turns it into a sentence for the model', async () => {
    const onError = vi.fn((error: unknown) =>
      (error as { code?: string }).code === 'SQLITE_CONSTRAINT'
        ? new ToolError('There is such an issue already.')
        : undefined,
    );
    const { call, logged } = build(onError);
    expect(await call('tools/call', { name: 'insert' })).toMatchObject(
      failure('There is such an issue already.'),
    );
    expect(onError).toHaveBeenCalledWith(
      constraint,
      expect.objectContaining({ method: 'tools/call', params: { name: 'insert' } }),
    );
    expect(logged).toEqual([]);
  });

  it.each(['tools/call', 'resources/read', 'prompts/get', 'own/method'])(
    'may throw an McpError, which is the response to %s',
    async (method) => {
      const { call } = build(async () => {
        throw new McpError('invalid_params', 'There is such an issue already.');
      });
      const params = { name: method === 'tools/call' ? 'insert' : 'p', uri: 'x://y' };
      await expect(call(method, params)).rejects.toMatchObject({
        code: 'invalid_params',
        message: 'There is such an issue already.',
      });
    },
  );

  it('sees errors of middleware, of tools that tools call, and of prompts', async () => {
    const { call } = build(() => new ToolError('Taken.'));
    expect(await call('tools/call', { name: 'broken' })).toMatchObject(failure('Taken.'));
    expect(await call('tools/call', { name: 'outer' })).toMatchObject(failure('Taken.'));
    await expect(call('prompts/get', { name: 'p' })).rejects.toMatchObject({
      code: 'internal_error',
      message: 'Taken.',
    });
  });

  it.each([
    ['returns nothing', () => undefined],
    ['returns an error that is not meant for the peer', () => new Error('10.0.0.2')],
    ['returns a string', () => '10.0.0.2'],
    [
      'throws the same error',
      (error: unknown) => {
        throw error;
      },
    ],
    [
      'fails itself',
      () => {
        throw new Error('10.0.0.2');
      },
    ],
  ])('that %s leaves the error masked and logged', async (_, onError) => {
    const { call, logged } = build(onError);
    const outcome = JSON.stringify(await call('tools/call', { name: 'insert' }));
    expect(outcome).toMatch(/Internal error \(ref [0-9a-f]{8}\)/);
    expect(outcome).not.toContain('10.0.0');
    expect(logged).toContain(constraint);
  });

  it('does not see errors that are meant for the peer', async () => {
    const onError = vi.fn();
    const { call } = build(onError);
    await call('tools/call', { name: 'blocked' });
    await expect(call('prompts/get', { name: 'none' })).rejects.toThrow();
    expect(onError).not.toHaveBeenCalled();
  });
});

describe('a ToolError', () => {
  it('of middleware reaches the model', async () => {
    const { call } = build();
    expect(await call('tools/call', { name: 'blocked' })).toMatchObject(failure('Closed on Sundays.'));
  });

  it('of middleware reaches the client of another method as the message of its error', async () => {
    const { call } = build();
    await expect(call('prompts/get', { name: 'blocked' })).rejects.toMatchObject({
      code: 'internal_error',
      message: 'Closed on Sundays.',
    });
  });

  it('of the option user reaches the model', async () => {
    const server = createServer({
      ...base,
      logger: () => undefined,
      user: () => {
        throw new ToolError('Your trial is over.');
      },
      tools: { t: tool({ run: () => 1 }) },
    });
    const call = inProcess(server);
    expect(await call('tools/call', { name: 't' })).toMatchObject(failure('Your trial is over.'));
  });
});
