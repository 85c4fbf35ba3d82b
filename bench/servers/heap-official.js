// Sessions as in the SDK's documentation: a transport and a server for each, in a map by id. Also serves modern requests.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createOfficial } from './official-server.js';
import { answerParent } from './report.js';

const transports = new Map();
const modern = toNodeHandler(createMcpHandler(createOfficial));

async function handle(req, res) {
  if (req.headers['mcp-method'] !== undefined) return modern(req, res);
  const existing = transports.get(req.headers['mcp-session-id']);
  if (existing !== undefined) return existing.handleRequest(req, res);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void transports.set(id, transport),
  });
  transport.onclose = () => transports.delete(transport.sessionId);
  await createOfficial().connect(transport);
  await transport.handleRequest(req, res);
}

const http = createServer((req, res) => void handle(req, res));
http.listen(0, '127.0.0.1', () => answerParent(http.address().port));
