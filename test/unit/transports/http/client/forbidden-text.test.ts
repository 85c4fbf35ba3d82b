import { afterEach, expect, test } from 'vitest';
import { connect } from '../../../../../src/client.js';
import {
  error,
  json,
  type ScriptedServer,
  scriptedServer,
  status,
} from '../../../../support/http/http-server.js';

const open: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
});

async function failure(reply: Parameters<typeof scriptedServer>[0]): Promise<string> {
  const server = await scriptedServer(reply);
  open.push(server);
  const reason = await connect(server.url).catch((reason) => reason);
  expect(reason.code).toBe('forbidden');
  return reason.message.replace(server.url.href, 'URL');
}

test("a server's reason for a 403 is quoted, without a guess and with one full stop", async () => {
  const why = 'Host "x" is not allowed. Add it to allowedHosts if it is yours.';
  expect(await failure((request, response) => json(response, error(request, -32600, why), 403))).toBe(
    `URL answered 403: ${why}`,
  );
  const short = await failure((request, response) => json(response, error(request, -32600, 'No'), 403));
  expect(short).toBe('URL answered 403: No.');
});

test('a 403 without a reason is explained with its probable cause', async () => {
  const guess = await failure((_request, response) => status(response, 403));
  expect(guess).toMatch(/^URL answered 403\. The credentials in `auth` or `headers` do not permit this, or/);
});

async function refusedWith(
  code: number,
  headers: Record<string, string>,
  body: string,
): Promise<{ readonly message: string; readonly data: unknown; readonly code: string }> {
  const server = await scriptedServer((_request, response) => {
    response.writeHead(code, headers).end(body);
  });
  open.push(server);
  const { message, data, code: name } = await connect(server.url).catch((reason) => reason);
  return { message: message.replace(server.url.href, 'URL'), data, code: name };
}

const BEARER =
  'Bearer error="invalid_token", error_description="The token is for another audience (aud): zz."';
const ADVICE = 'Pass a valid token as `auth`, or other credentials as `headers`.';
const rpc = (message: string): string => JSON.stringify({ jsonrpc: '2.0', error: { code: -32600, message } });

test.each([
  ['in the challenge', { 'www-authenticate': BEARER }, '', 'The token is for another audience (aud): zz.'],
  ['in the body of JSON-RPC', {}, rpc('The key has been revoked'), 'The key has been revoked.'],
  ['in the body of OAuth', {}, '{"error":"invalid_token","error_description":"Too old."}', 'Too old.'],
  ['in problem details', {}, '{"title":"x","detail":"No key in x-api-key"}', 'No key in x-api-key.'],
  ['as text', { 'content-type': 'text/plain' }, 'Missing API key', 'Missing API key.'],
])('the reason of a server for a 401 is quoted if it is %s', async (_, headers, body, words) => {
  const { message, data, code } = await refusedWith(401, headers as Record<string, string>, body);
  expect(code).toBe('unauthorized');
  expect(message).toBe(`URL requires authentication (401): ${words} ${ADVICE}`);
  expect(words).toContain((data as { reason: string }).reason);
});

test.each([
  ['nothing', {}, ''],
  ['the name of the status', {}, 'Unauthorized'],
  ['the code alone', { 'www-authenticate': 'Bearer error="invalid_token"' }, '{"error":"invalid_token"}'],
  ['our own words for a missing token', {}, rpc('This server requires authentication.')],
  ['a web page', { 'content-type': 'text/html' }, '<html><title>Log in</title></html>'],
])('a server that says %s with a 401 is not quoted', async (_, headers, body) => {
  const { message, data } = await refusedWith(401, headers as Record<string, string>, body);
  expect(message).toBe(`URL requires authentication (401). ${ADVICE}`);
  expect(data).not.toHaveProperty('reason');
});

test('the reason of a hostile server is short, on one line, and without control characters', async () => {
  const hostile = `\u001b[2J\u202eevil\r\nX: y\u0000${'x'.repeat(50_000)}`;
  for (const status of [401, 403]) {
    const { message } = await refusedWith(status, {}, rpc(hostile));
    expect(message.length).toBeLessThan(500);
    expect(message).toMatch(/: \[2J evil X: y x/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not be there
    expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  }
});

test('the reason of a server for a 403 may be in the challenge', async () => {
  const challenge =
    'Bearer error="insufficient_scope", error_description="This needs the scope issues:write"';
  const { message } = await refusedWith(403, { 'www-authenticate': challenge }, '');
  expect(message).toBe('URL answered 403: This needs the scope issues:write.');
});
