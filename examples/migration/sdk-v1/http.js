import { randomUUID } from 'node:crypto';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { createShop } from './shop.js';

const users = new Map([['secret-of-ada', 'ada']]);
/** @type {Map<string, StreamableHTTPServerTransport>} */
const transports = new Map();

const verifier = {
  async verifyAccessToken(/** @type {string} */ token) {
    const clientId = users.get(token);
    if (clientId === undefined) throw new InvalidTokenError('This token is not valid');
    return { token, clientId, scopes: [], expiresAt: Date.now() / 1000 + 3600 };
  },
};

const app = createMcpExpressApp();
app.all('/mcp', requireBearerAuth({ verifier }), async (req, res) => {
  let transport = transports.get(String(req.headers['mcp-session-id']));
  if (transport === undefined && isInitializeRequest(req.body)) {
    const created = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, created),
    });
    created.onclose = () => transports.delete(created.sessionId ?? '');
    await createShop().connect(created);
    transport = created;
  }
  if (transport === undefined) res.status(400).send('No session');
  else await transport.handleRequest(req, res, req.body);
});

const listening = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`Listening on http://localhost:${listening.address().port}/mcp`);
});
