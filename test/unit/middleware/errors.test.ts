import { createServer, McpError, type Middleware, prompt, ToolError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type ErrorsOptions, errors } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

class NoRow extends Error {}

const fail = (error: unknown) => () => Promise.reject(error);
const thrownBy = (middleware: Middleware, error: unknown) =>
  middleware(buildCall('resources/read', { uri: 'x:1' }), fail(error)).catch((thrown: unknown) => thrown);

describe('errors', () => {
  it('gives the error that `map` returns or throws, and keeps the others', async () => {
    const found = new McpError('resource_not_found', 'No such row.');
    const map = async (error: unknown) => {
      if (error instanceof NoRow) return found;
      if (error === 'throw') throw found;
      return undefined;
    };
    const other = new Error('other');
    expect(await thrownBy(errors({ map }), new NoRow())).toBe(found);
    expect(await thrownBy(errors({ map }), 'throw')).toBe(found);
    expect(await thrownBy(errors({ map }), other)).toBe(other);
  });

  it('has both errors if `map` fails', async () => {
    const [bug, error] = [new Error('bug'), new NoRow()];
    const thrown = await thrownBy(
      errors({
        map: () => {
          throw bug;
        },
      }),
      error,
    );
    expect((thrown as AggregateError).errors).toEqual([bug, error]);
  });

  it('reports every error as it was thrown, and ignores an error of the report', async () => {
    const report = vi.fn(() => {
      throw new Error('report');
    });
    const error = new NoRow();
    const call = buildCall('tools/call');
    const mapped = new McpError('invalid_params', 'No');
    await expect(errors({ report, map: () => mapped })(call, fail(error))).rejects.toBe(mapped);
    expect(report.mock.calls).toEqual([[error, call]]);
  });

  it.each([
    ['a question', { resultType: 'input_required' }],
    ['a failed result of a tool', { ...toolResult('no'), isError: true }],
  ])('does not treat %s as an error', async (_, outcome) => {
    const report = vi.fn();
    expect(
      await errors({ report, map: () => new Error('no') })(buildCall('tools/call'), async () => outcome),
    ).toBe(outcome);
    expect(report).not.toHaveBeenCalled();
  });

  it.each<[unknown, string]>([
    [{}, 'errors needs `map`, `mask` or `report`'],
    [{ hide: [] }, 'errors has no option "hide"'],
    [undefined, 'the options must be an object'],
  ])('rejects the options %j', (options, message) => {
    expect(() => errors(options as ErrorsOptions)).toThrow(message);
  });
});

function build(use: Middleware) {
  const logged: [message: string, error: unknown][] = [];
  const server = createServer({
    name: 'failing',
    version: '1.0.0',
    use: [use],
    logger: (_, message, error) => void logged.push([message, error]),
    tools: {
      upstream: tool({
        run: () => {
          throw new McpError('connect_failed', 'http://10.0.0.5:8080 refused the connection');
        },
      }),
    },
    prompts: {
      upstream: prompt({
        run: () => {
          throw new McpError('remote_error', 'db.internal', { data: { host: 'db.internal' } });
        },
      }),
    },
  });
  onTestFinished(() => server.close());
  return { server, logged };
}

describe('errors on a server', () => {
  it('masks the codes of an upstream with a reference, under which the log has the error', async () => {
    const { server, logged } = build(errors({ mask: ['connect_failed', 'remote_error'] }));
    await using client = await connect(server);
    for (const failing of [client.callTool('upstream'), client.getPrompt('upstream')]) {
      const error = (await failing.catch((thrown: unknown) => thrown)) as McpError;
      expect(error.code).toBe('internal_error');
      expect(error.message).toMatch(/^Internal error \(ref [0-9a-f]{8}\)$/);
      expect(error.data).toBeUndefined();
      const reference = /ref \w+/.exec(error.message)?.[0];
      expect(logged).toContainEqual([expect.stringContaining(String(reference)), expect.any(Error)]);
    }
    expect(logged.map(([, error]) => (error as Error).cause)).toEqual([
      expect.objectContaining({ code: 'connect_failed' }),
      expect.objectContaining({ code: 'remote_error' }),
    ]);
  });

  it('turns a ToolError into a result that the model reads', async () => {
    const { server } = build(
      errors({ map: () => new ToolError('The upstream is away. Try again in a minute.') }),
    );
    await using client = await connect(server);
    const result = await client.callTool('upstream');
    expect([result.isError, result.text]).toEqual([true, 'The upstream is away. Try again in a minute.']);
  });
});

describe('errors on a client', () => {
  it('maps the errors of the server, and masks them from the program', async () => {
    const { server } = build(async (call, next) => next(call));
    const map = (error: unknown) =>
      McpError.is(error) && error.code === 'connect_failed'
        ? new McpError('overloaded', 'Try later')
        : undefined;
    await using client = await connect(server, { use: [errors({ map })] });
    await expect(client.callTool('upstream')).rejects.toMatchObject({
      code: 'overloaded',
      message: 'Try later',
    });
    await using masking = await connect(server, { use: [errors({ mask: ['connect_failed'] })] });
    const masked = (await masking.callTool('upstream').catch((thrown: unknown) => thrown)) as McpError;
    expect(masked.code).toBe('internal_error');
    expect((masked.cause as Error).cause).toMatchObject({ code: 'connect_failed' });
  });
});
