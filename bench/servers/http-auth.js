// A server whose callers are identified: the first argument is the kind of credentials, the second one the facts about them as JSON.
import { fullmcp } from '../fullmcp.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';

const [kind, facts] = [process.argv[2], JSON.parse(process.argv[3] ?? '{}')];
// toolNames() reads the number of tools there.
process.argv[2] = '1';
const { serve } = await fullmcp('node');
const auth = kind === 'none' ? undefined : await provider();
const { port } = await serve(createFullmcp(), { port: 0, host: '127.0.0.1', ...(auth && { auth }) });
answerParent(port);

async function provider() {
  const { apiKey, hashApiKey, jwt } = await fullmcp('auth');
  const { issuer, jwksUri, audience, key } = facts;
  switch (kind) {
    case 'jwt':
      return jwt({ issuer, jwksUri, audience });
    case 'jwtEachTime':
      return jwt({ issuer, jwksUri, audience, cacheSeconds: 0 });
    case 'dpop':
      return jwt({ issuer, jwksUri, audience, dpop: 'required' });
    case 'apiKey':
      return apiKey({ keys: [{ hash: await hashApiKey(key), subject: 'bench' }] });
    default:
      throw new Error(`There are no credentials of the kind ${kind}.`);
  }
}
