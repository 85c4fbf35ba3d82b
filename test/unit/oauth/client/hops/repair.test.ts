import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repairRegistrationReply, repairTokenReply } from '../../../../../src/oauth/client/hops/repair.js';

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

async function repaired(repair: typeof repairTokenReply, body: string, init: ResponseInit) {
  const response = await repair(new Response(body, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, value: () => JSON.parse(text) };
}

test.each<[string, string, ResponseInit, number, unknown]>([
  [
    'an error of GitHub, with status 200',
    '{"error":"bad_verification_code","error_description":"The code is incorrect."}',
    { status: 200, headers: json },
    400,
    { error: 'bad_verification_code', error_description: 'The code is incorrect.' },
  ],
  [
    'a form-encoded error with status 200',
    'error=incorrect_client_credentials&error_description=no%20such+client',
    { status: 200, headers: form },
    400,
    { error: 'incorrect_client_credentials', error_description: 'no such client' },
  ],
  [
    'form-encoded tokens',
    'access_token=gho_abc&scope=repo%2Cgist&token_type=bearer',
    { status: 200, headers: form },
    200,
    { access_token: 'gho_abc', scope: 'repo,gist', token_type: 'bearer' },
  ],
  [
    'null and empty members',
    '{"access_token":"a","refresh_token":"","scope":null,"expires_in":null,"token_type":"Bearer"}',
    { status: 200, headers: json },
    200,
    { access_token: 'a', token_type: 'Bearer' },
  ],
  [
    'an ID token that nobody asked for',
    '{"access_token":"a","id_token":"x.y.z","token_type":"Bearer"}',
    { status: 200, headers: json },
    200,
    { access_token: 'a', token_type: 'Bearer' },
  ],
  [
    'scopes in an array',
    '{"access_token":"a","scope":["one","two"]}',
    { status: 200, headers: json },
    200,
    { access_token: 'a', scope: 'one two' },
  ],
  [
    'a refusal labelled as text',
    '{"error":"invalid_grant"}',
    { status: 400, headers: { 'content-type': 'text/plain' } },
    400,
    { error: 'invalid_grant' },
  ],
])('a reply of a token endpoint is repaired: %s', async (_, body, init, status, value) => {
  const reply = await repaired(repairTokenReply, body, init);
  expect(reply.status).toBe(status);
  expect(reply.value()).toEqual(value);
});

test('a refusal with a challenge keeps its body, and loses the header that would hide it', async () => {
  const headers = { ...json, 'www-authenticate': 'Basic realm="as"' };
  const reply = await repaired(repairTokenReply, '{"error":"invalid_client"}', { status: 401, headers });
  expect(reply.status).toBe(401);
  expect(reply.headers.get('www-authenticate')).toBeNull();
  expect(reply.value()).toEqual({ error: 'invalid_client' });
});

test('an error beside an access token does not make the reply an error', async () => {
  const body = '{"access_token":"a","error":"","token_type":"Bearer"}';
  const reply = await repaired(repairTokenReply, body, { status: 200, headers: json });
  expect(reply.status).toBe(200);
});

test.each([
  ['a page', '<!doctype html><title>error=1</title>'],
  ['text', 'error: none'],
  ['an array', '["access_token"]'],
  ['a form without an answer', 'page=login'],
  ['nothing', ''],
])('a reply that is %s stays as it is', async (_, body) => {
  const reply = await repaired(repairTokenReply, body, {
    status: 502,
    headers: { 'content-type': 'text/html' },
  });
  expect(reply).toMatchObject({ status: 502, text: body });
  expect(reply.headers.get('content-type')).toBe('text/html');
});

test.each<[string, string, number, number, unknown]>([
  [
    'status 200, and a secret without an end',
    '{"client_id":"a","client_secret":"s"}',
    200,
    201,
    { client_id: 'a', client_secret: 's', client_secret_expires_at: 0 },
  ],
  [
    'a secret that is null or empty',
    '{"client_id":"a","client_secret":null,"client_name":""}',
    201,
    201,
    { client_id: 'a' },
  ],
  [
    'a secret with an end',
    '{"client_id":"a","client_secret":"s","client_secret_expires_at":5}',
    201,
    201,
    { client_id: 'a', client_secret: 's', client_secret_expires_at: 5 },
  ],
  ['a refusal', '{"error":"invalid_redirect_uri"}', 400, 400, { error: 'invalid_redirect_uri' }],
])('a reply of a registration endpoint is repaired: %s', async (_, body, before, status, value) => {
  const reply = await repaired(repairRegistrationReply, body, { status: before, headers: json });
  expect(reply.status).toBe(status);
  expect(reply.value()).toEqual(value);
});

test('any text is repaired without an error, in a time that grows with its length alone', async () => {
  const text = fc.oneof(fc.string(), fc.json(), fc.webQueryParameters());
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(200, 201, 204, 400, 401, 500), async (body, status) => {
      const given = () => new Response([204].includes(status) ? null : body, { status });
      expect((await repairTokenReply(given())).status).toBeGreaterThanOrEqual(200);
      expect((await repairRegistrationReply(given())).status).toBeGreaterThanOrEqual(200);
    }),
  );
  // The longest reply that is read, made to look like a form for as long as possible.
  const long = `${'a=b&'.repeat(250_000)}<`;
  expect((await repairTokenReply(new Response(long))).status).toBe(200);
});
