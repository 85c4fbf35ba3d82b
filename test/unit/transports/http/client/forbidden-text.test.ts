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
