import { PassThrough, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { createHandler } from 'fullmcp/http';
import { expect, test, vi } from 'vitest';
import {
  type HttpEvent,
  type HttpHead,
  type HttpResult,
  toRequest,
  toResult,
} from '../../../examples/deploy/lambda/adapter.js';
import { handler } from '../../../examples/deploy/lambda/handler.js';
import { callTool, expectMath, type Fetch } from '../../support/examples/wire.js';

// The handler is invoked with events as AWS documents them: payload format 2.0 of function URLs and HTTP APIs.

const url = 'https://abc123.lambda-url.eu-central-1.on.aws/mcp';

test('the Lambda handler serves both eras', () => expectMath(url, invoking(handler)));

test('the Lambda handler takes bodies in base64, as binary content types have them', () =>
  expectMath(url, invoking(handler, { base64: true })));

test('a client calls a tool through the Lambda handler', async () => {
  const client = await connect(url, { fetch: fetching(invoking(handler)) });
  expect((await client.callTool('add', { a: 2, b: 40 })).text).toBe('42');
  expect(client.server.revision).toBe('2026-07-28');
  await client.close();
});

test('the Lambda handler refuses a stream that would not end', async () => {
  const response = await invoking(handler)(new Request(url, { headers: { accept: 'text/event-stream' } }));
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

test('the Lambda handler serves the health path', async () => {
  const response = await invoking(handler)(new Request(url.replace('mcp', 'health')));
  expect(await response.json()).toEqual({ status: 'ok' });
});

test('an event of payload format 1.0 fails with an error that says what to set', () => {
  expect(() => toRequest({ version: '1.0' } as HttpEvent)).toThrow('The payload format must be 2.0');
});

test('cookies and the query reach the request, and several cookies the result', async () => {
  const event = await toEvent(new Request(`${url}?a=1&b=%20`), {});
  const request = toRequest({ ...event, cookies: ['a=1', 'b=2'] });
  expect([request.headers.get('cookie'), new URL(request.url).search]).toEqual(['a=1; b=2', '?a=1&b=%20']);
  const headers: [string, string][] = [
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['x-other', '3'],
  ];
  expect(await toResult(new Response(null, { headers }))).toEqual({
    statusCode: 200,
    headers: { 'x-other': '3' },
    cookies: ['a=1', 'b=2'],
    body: '',
    isBase64Encoded: false,
  });
});

test('a binary response is encoded in base64, and text in any script is not', async () => {
  const bytes = Uint8Array.of(0x89, 0x50, 0xff, 0x00);
  expect(await toResult(new Response(bytes))).toMatchObject({ body: 'iVD/AA==', isBase64Encoded: true });
  expect(await toResult(new Response('zwölf 十二'))).toMatchObject({
    body: 'zwölf 十二',
    isBase64Encoded: false,
  });
});

test('a tool sees the address that AWS reports, not one that the client claims', async () => {
  const server = createServer({
    name: 'addresses',
    version: '1.0.0',
    tools: { address: tool({ run: (_, ctx) => ctx.request?.remoteAddress ?? 'none' }) },
  });
  const mcp = createHandler(server, { trustProxy: 1 });
  const invoke = async (event: HttpEvent): Promise<HttpResult> =>
    toResult(
      await mcp(
        toRequest({ ...event, headers: { ...event.headers, 'x-forwarded-for': '203.0.113.9, 10.0.0.1' } }),
      ),
    );
  expect(await callTool(url, 'address', {}, invoking(invoke))).toMatchObject({
    content: [{ text: '198.51.100.7' }],
  });
});

test('the streaming handler serves both eras with a stand-in for the global of Lambda', async () => {
  let head: HttpHead | undefined;
  vi.stubGlobal('awslambda', {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from(out: Writable, given: HttpHead) {
        head = given;
        return out;
      },
    },
  });
  const { handler: streaming } = await import('../../../examples/deploy/lambda/streaming.js');
  await expectMath(
    url,
    invoking(async (event) => {
      const out = new PassThrough();
      const [body] = await Promise.all([text(out), streaming(event, out)]);
      return { ...(head as HttpHead), body, isBase64Encoded: false };
    }),
  );
  vi.unstubAllGlobals();
});

function invoking(
  invoke: (event: HttpEvent) => Promise<HttpResult>,
  options: { readonly base64?: boolean } = {},
): Fetch {
  return async (request) => {
    const event = await toEvent(request, options);
    // An event and a result are JSON on their way.
    const result = JSON.parse(
      JSON.stringify(await invoke(JSON.parse(JSON.stringify(event)) as HttpEvent)),
    ) as HttpResult;
    const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
    return new Response(result.statusCode === 204 ? null : body, {
      status: result.statusCode,
      headers: result.headers,
    });
  };
}

function fetching(send: Fetch): typeof fetch {
  return (input, init) => send(new Request(input as string, init));
}

async function toEvent(
  request: Request,
  { base64 = false }: { readonly base64?: boolean },
): Promise<HttpEvent> {
  const { host, pathname, search } = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: {
      ...Object.fromEntries(request.headers),
      host,
      'x-forwarded-for': '198.51.100.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678',
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abc123',
      domainName: host,
      domainPrefix: 'abc123',
      http: {
        method: request.method,
        path: pathname,
        protocol: 'HTTP/1.1',
        sourceIp: '198.51.100.7',
        userAgent: 'test',
      },
      requestId: '5f1b3c1e-0000-0000-0000-000000000000',
      routeKey: '$default',
      stage: '$default',
      time: '16/Nov/2026:12:00:00 +0000',
      timeEpoch: 1_794_830_400_000,
    },
    ...(body.length > 0 && { body: body.toString(base64 ? 'base64' : 'utf8') }),
    isBase64Encoded: base64,
  };
  return event;
}
