import { createServer } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { github, oauthProxy } from 'fullmcp/oauth-proxy';
import { expect, onTestFinished, test } from 'vitest';

// A limitation that pages name: when the test fails, the feature has arrived, and the sentence must go, together with the test.

test('oauthProxy offers no tokens that are bound to a key', async () => {
  const publicUrl = 'https://mcp.example.com/mcp';
  const upstream = github({ clientId: 'client', clientSecret: 'a secret of the provider' });
  const auth = oauthProxy({ upstream, publicUrl });
  const server = createServer({
    name: 'limits',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
  });
  const handler = createHandler(server, { auth, publicUrl });
  onTestFinished(() => handler.close());
  const reply = await handler(new Request('https://mcp.example.com/.well-known/oauth-authorization-server'));
  const metadata = (await reply.json()) as Record<string, unknown>;
  expect(metadata).toHaveProperty('token_endpoint');
  expect(metadata).not.toHaveProperty('dpop_signing_alg_values_supported');
});
