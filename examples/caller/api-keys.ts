import { anyOf, apiKey, bearer, hashApiKey } from 'fullmcp/auth';
import { createHandler } from 'fullmcp/http';
import { server } from './server.js';

// Store only the hash: run `hashApiKey` once, when you create the key. A real key is random and comes from no source file.
const hash = await hashApiKey('key_of-the-nightly-report');

// Stands in for your own check: a session table, for example.
const sessions = new Map([['token-of-ada', { id: 'ada', endsAt: Date.now() + 3_600_000 }]]);

export const handle = createHandler(server, {
  auth: anyOf(
    apiKey({ keys: [{ hash, subject: 'nightly-report', scopes: ['notes'] }], prefix: 'key_' }),
    bearer((token) => {
      const session = sessions.get(token);
      return session && { subject: session.id, expiresAt: session.endsAt };
    }),
  ),
});
