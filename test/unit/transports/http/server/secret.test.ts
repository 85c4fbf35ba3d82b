import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler } from 'fullmcp/node';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { modernExchange } from '../../../../support/http/modern.js';

// The secret of a mounted handler is also the server's: one process asks, and another can accept the answer.

const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };

function build() {
  const schema = z.object({ name: z.string() });
  return createServer({
    name: 'test',
    version: '1.0.0',
    logger: () => undefined,
    tools: { hi: tool({ run: (_, ctx) => ctx.ask('name', { message: 'Who?', schema }) }) },
  });
}

/** Asks one handler and answers another. */
async function across(
  secrets: readonly (string | readonly string[] | undefined)[],
): Promise<Record<string, unknown>> {
  const [first, second] = secrets.map((secret) => createHandler(build(), { secret }));
  const call = async (handler = first, more: object = {}): Promise<Record<string, unknown>> => {
    const { headers, body } = modernExchange('tools/call', { name: 'hi', ...more }, { meta });
    const init = { method: 'POST', headers: headers as Record<string, string>, body: body as string };
    return (await (await handler?.(new Request('http://localhost/mcp', init)))?.json()) as never;
  };
  const { requestState } = (await call())['result'] as { requestState: string };
  return call(second, { inputResponses, requestState });
}

describe('the secret of a mounted handler', () => {
  test('lets a handler with the same secret accept the answer', async () => {
    const secret = 'x'.repeat(32);
    expect(await across([secret, secret])).toMatchObject({ result: { structuredContent: { name: 'Ada' } } });
  });

  test.each([
    ['with none', [undefined, undefined]],
    ['with another', ['x'.repeat(32), 'y'.repeat(32)]],
  ])('does not let a handler %s accept the answer', async (_, secrets) => {
    expect(await across(secrets)).toMatchObject({ error: { code: -32602 } });
  });

  const [old, young] = ['x'.repeat(32), 'y'.repeat(32)];
  test('may be several: the first one seals, and all of them open', async () => {
    const both = [young, old];
    const answered = { result: { structuredContent: { name: 'Ada' } } };
    const rejected = { error: { code: -32602 } };
    expect(await across([old, both])).toMatchObject(answered);
    expect(await across([both, young])).toMatchObject(answered);
    expect(await across([both, old])).toMatchObject(rejected);
  });

  test.each([[''], [[]], [['x'.repeat(31)]], [['x'.repeat(32), '']]])('cannot be %j', (secret) => {
    expect(() => createHandler(build(), { secret })).toThrow(TypeError);
  });

  test('is passed to a server that accepts one, and ignored for another', () => {
    const { dispatch } = build();
    const provideSecret = vi.fn();
    const secret = 'x'.repeat(32);
    createNodeHandler({ dispatch }, { secret });
    createNodeHandler({ dispatch, provideSecret }, { secret });
    expect(provideSecret.mock.calls).toEqual([[secret]]);
  });
});
