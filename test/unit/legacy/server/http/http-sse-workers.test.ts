import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { expect, test } from 'vitest';
import { initializeMessage } from '../../../../support/http/sessions.js';
import { until } from '../../../../support/until.js';

// Workers stop the work of a request once it is answered, unless they are told to wait. Over HTTP+SSE the response to a call goes
// out on another request's stream, after the POST that brought it was answered.

test('a runtime that stops requests after their replies is told to wait for a call over HTTP+SSE', async () => {
  let finish: ((value: string) => void) | undefined;
  const server = createServer({
    name: 'slow',
    version: '1',
    tools: { slow: tool({ run: () => new Promise<string>((resolve) => (finish = resolve)) }) },
  });
  const handler = createHandler(server);
  const stream = await handler(new Request('http://localhost/sse'));
  const received = collectText(stream);
  await until('the endpoint is known', () => received.text.includes('data: '));
  const [, path] = /data: (.*)/.exec(received.text) as unknown as [string, string];

  const work: Promise<unknown>[] = [];
  const context = {
    waitUntil(promise: Promise<unknown>): void {
      // As Workers do: the function must be called on its object.
      if (this !== context) throw new TypeError('Illegal invocation');
      work.push(promise);
    },
  };
  const post = (message: object): Promise<Response> =>
    handler(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
      }),
      context,
    );

  await post(initializeMessage('2024-11-05'));
  await Promise.all(work.splice(0));
  expect(received.text).toContain('serverInfo');
  const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } });
  expect(reply.status).toBe(202);
  expect(work).toHaveLength(1);
  finish?.('done in time');
  await Promise.all(work);
  await until('the response has arrived', () => received.text.includes('done in time'));
  await handler.close();
});

function collectText(response: Response): { text: string } {
  const received = { text: '' };
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      received.text += decoder.decode(chunk, { stream: true });
  })();
  return received;
}
