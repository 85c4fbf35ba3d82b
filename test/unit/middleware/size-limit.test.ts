import { createServer, type McpError, prompt, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type SizeLimitOptions, sizeLimit } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';

const run = (
  options: SizeLimitOptions,
  params: object,
  outcome: object = toolResult('done'),
  method = 'tools/call',
) => sizeLimit(options)(buildCall(method, params as never), async () => outcome as never);

describe('sizeLimit', () => {
  it('refuses parameters that are one character too large, before the call is made', async () => {
    const params = { name: 'a', arguments: { text: 'é"\n' } };
    const chars = JSON.stringify(params).length;
    expect(await run({ maxParamsChars: chars }, params)).toEqual(toolResult('done'));
    const next = vi.fn();
    const refused = sizeLimit({ maxParamsChars: chars - 1 })(buildCall('tools/call', params), next);
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_params',
      message: `The parameters have ${chars} characters as JSON; at most ${chars - 1} are accepted. Send less.`,
    });
    expect(next).not.toHaveBeenCalled();
  });

  it('does not count the `_meta` and the state of a question, which the peer did not write', async () => {
    const params = { name: 'a', _meta: { long: 'x'.repeat(1000) }, requestState: 'x'.repeat(1000) };
    expect(await run({ maxParamsChars: 50 }, params)).toEqual(toolResult('done'));
  });

  it('refuses parameters that cannot be printed', async () => {
    // Older Nodes cannot print as many levels. Newer ones can, and then it has too many characters.
    let deep: unknown = 'end';
    for (let n = 0; n < 60_000; n++) deep = [deep];
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    for (const value of [deep, cyclic])
      await expect(run({ maxParamsChars: 100_000 }, { value })).rejects.toMatchObject({
        code: 'invalid_params',
      });
  });

  it('turns a large result of a tool into a failure for the model, with its `_meta`', async () => {
    const large = { ...toolResult('x'.repeat(500)), _meta: { a: 1 } };
    const { _meta, ...counted } = large;
    const chars = JSON.stringify(counted).length;
    expect(await run({ maxResultChars: chars }, {}, large)).toBe(large);
    expect(await run({ maxResultChars: chars - 1 }, {}, large)).toEqual({
      resultType: 'complete',
      isError: true,
      content: [
        {
          type: 'text',
          text: `The tool has run, but its result has ${chars} characters as JSON; at most ${chars - 1} are returned. Ask for less, for example for one page or with a filter, if the tool may be called again.`,
        },
      ],
      _meta: { a: 1 },
    });
  });

  it('limits the result of a task, too', async () => {
    const task = {
      resultType: 'complete',
      taskId: 't',
      status: 'completed',
      result: { content: [{ type: 'text', text: 'x'.repeat(500) }] },
    };
    const limited = (await run({ maxResultChars: 100 }, {}, task, 'tasks/get')) as typeof task;
    expect(limited.taskId).toBe('t');
    expect(limited.result).toMatchObject({ isError: true });
  });

  it.each([
    ['a question', 'tools/call', { resultType: 'input_required', requestState: 'x'.repeat(500) }],
    ['a list', 'tools/list', { resultType: 'complete', tools: ['x'.repeat(500)] }],
    [
      'the description of the server',
      'server/discover',
      { resultType: 'complete', instructions: 'x'.repeat(500) },
    ],
    ['a task that asks', 'tasks/get', { resultType: 'complete', inputRequests: 'x'.repeat(500) }],
  ])('does not limit %s', async (_, method, outcome) => {
    expect(await run({ maxResultChars: 100 }, {}, outcome, method)).toBe(outcome);
  });

  it.each<[unknown, string]>([
    [{}, 'sizeLimit needs `maxParamsChars` or `maxResultChars`'],
    [{ maxResultChars: 0 }, 'sizeLimit: "maxResultChars" must be an integer, 1 or more, not 0.'],
    [{ maxResult: 5 }, 'sizeLimit has no option "maxResult"'],
  ])('rejects the options %j', (options, message) => {
    expect(() => sizeLimit(options as SizeLimitOptions)).toThrow(message);
  });
});

function build(use: SizeLimitOptions | undefined) {
  const server = createServer({
    name: 'large',
    version: '1.0.0',
    use: use === undefined ? [] : [sizeLimit(use)],
    tools: { echo: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text.repeat(10) }) },
    resources: { 'large://file': resource({ name: 'large', read: () => 'x'.repeat(5000) }) },
    prompts: { large: prompt({ run: () => 'x'.repeat(5000) }) },
  });
  onTestFinished(() => server.close());
  return server;
}

describe.each(['server', 'client'])('sizeLimit on a %s', (end) => {
  const options = { maxParamsChars: 1000, maxResultChars: 3000 };
  const open = () =>
    end === 'server' ? connect(build(options)) : connect(build(undefined), { use: [sizeLimit(options)] });

  it('limits what is sent and what is returned', async () => {
    await using client = await open();
    expect((await client.callTool('echo', { text: 'short' })).isError).toBeFalsy();
    expect(await client.callTool('echo', { text: 'x'.repeat(400) })).toMatchObject({ isError: true });
    await expect(client.callTool('echo', { text: 'x'.repeat(2000) })).rejects.toMatchObject({
      code: 'invalid_params',
    });
    for (const call of [client.readResource('large://file'), client.getPrompt('large')]) {
      const error = (await call.catch((thrown: unknown) => thrown)) as McpError;
      expect(error.code).toBe('internal_error');
      expect(error.message).toMatch(
        /^The result of \w+\/\w+ has \d+ characters as JSON; at most 3000 are returned\. Ask for less\.$/,
      );
    }
  });
});
