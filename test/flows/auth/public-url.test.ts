import { createServer, tool } from 'fullmcp';
import { type AuthProvider, anyOf, bearer } from 'fullmcp/auth';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { expect, it } from 'vitest';

// A provider that knows the URL of its server, as an authorization server must whose tokens are for that URL.

const publicUrl = 'https://mcp.example.com/api/mcp';
const resource = { authorizationServers: ['https://login.example.com'] };
const provider: AuthProvider = {
  ...bearer((token) => ({ subject: token }), { resource }),
  publicUrl,
};

function makeServer(auth?: AuthProvider) {
  return createServer({
    name: 'notes',
    version: '1.0.0',
    logger: () => undefined,
    ...(auth && { auth }),
    tools: { me: tool({ run: () => 'me' }) },
  });
}

const post = (url: string) => new Request(url, { method: 'POST', body: '{}' });

it.each([
  ['of the handler', createHandler(makeServer(), { auth: provider })],
  ['of the server', createHandler(makeServer(provider))],
  [
    'among others',
    createHandler(makeServer(), {
      auth: anyOf(
        bearer(() => null),
        provider,
      ),
    }),
  ],
])('The URL that a provider %s knows is the public URL of a handler without one', async (_, handler) => {
  const refused = await handler(post(publicUrl));
  // Without a public URL, a request for this host would get 403.
  expect(refused.status).toBe(401);
  const [, metadataUrl = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  expect(metadataUrl).toContain('https://mcp.example.com/api/mcp/.well-known/');
  const metadata = await handler(new Request(metadataUrl));
  expect(await metadata.json()).toMatchObject({ resource: publicUrl });
});

it('The URL that a provider knows is the public URL of serve', async () => {
  await using serving = await serve(makeServer(), { auth: provider, port: 0, signals: false });
  expect(serving.url).toBe(publicUrl);
  const reply = await fetch(`http://localhost:${serving.port}/.well-known/oauth-protected-resource/mcp`);
  expect(await reply.json()).toMatchObject({ resource: publicUrl });
});

it('A transport and its provider must not have different public URLs, except for a slash at the end', async () => {
  const make = (url: string) => createHandler(makeServer(), { auth: provider, publicUrl: url });
  expect(() => make(`${publicUrl}/`)).not.toThrow();
  expect(() => make('https://mcp.example.com/mcp')).toThrow(
    '"publicUrl" is https://mcp.example.com/mcp, but that of "auth" is https://mcp.example.com/api/mcp',
  );
  await expect(
    serve(makeServer(), { auth: provider, publicUrl: 'https://other.example.com/mcp', port: 0 }),
  ).rejects.toThrow('Use the same URL');
});
