import { createServer, tool } from 'fullmcp';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { oauth } from 'fullmcp/oauth';
import { afterEach, expect, it } from 'vitest';
import { startStandIn } from '../../support/oauth/stand-ins/stand-in.js';

// Logins at servers where a client cannot register itself: the error has to say what to do instead.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function failureOf(url: string): Promise<Error> {
  const opened: string[] = [];
  const error = await connect(url, { auth: oauth({ open: (page) => opened.push(page) }) }).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'unauthorized', data: { hop: 'registration' } });
  expect(opened).toEqual([]);
  expect((error as Error).message).not.toContain('conform');
  return error as Error;
}

it('A login at a server without an authorization server fails with the advice to pass a token', async () => {
  const server = createServer({ name: 'keys', version: '1.0.0', tools: { hi: tool({ run: () => 'hi' }) } });
  const keys = [{ hash: await hashApiKey('a key of thirty-two characters!!'), subject: 'ann' }];
  const serving = await serve(server, { port: 0, signals: false, auth: apiKey({ keys }) });
  closing.push(serving.close);
  const { message } = await failureOf(serving.url);
  expect(message).toContain('does not name an authorization server');
  expect(message).toContain('If it takes an API key or a token, pass that as `auth`');
  expect(message).toContain('/register answered status 404');
});

it.each([
  ['does not exist', 404, undefined],
  ['refuses', 403, { error: 'access_denied', error_description: 'Ask the administrator.' }],
  ['answers something else', 200, 'hello'],
])(
  'A login at a server whose registration %s fails with the advice to register by hand',
  async (_, status, json) => {
    const server = await startStandIn((issuer) => ({
      issuer,
      scopes: [],
      routes: {
        'GET /.well-known/oauth-authorization-server': () => ({
          json: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            registration_endpoint: `${issuer}/register`,
            code_challenge_methods_supported: ['S256'],
          },
        }),
        'POST /register': () => ({ status, json }),
      },
    }));
    closing.push(server.close);
    const { message } = await failureOf(server.url);
    expect(message).toContain(`Clients cannot register themselves at ${server.issuer}, or not this one`);
    expect(message).toContain('pass its id in the option `registered`');
    if (status === 403) expect(message).toContain('Ask the administrator.');
  },
);
