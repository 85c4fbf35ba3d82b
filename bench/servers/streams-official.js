// As in the SDK's documentation: modern requests through one handler, sessions with a transport and a server for each.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { info } from '../request.js';
import { reportStreams } from './streams-report.js';
import { echoDescription, echoInput } from './tools.js';

/** @type {Map<string, { transport: NodeStreamableHTTPServerTransport, server: McpServer, uris: Set<string> }>} */
const sessions = new Map();
const modern = createMcpHandler(() => create(new Set()), { maxSubscriptions: 20_000 });
const handleModern = toNodeHandler(modern);

/** @param {Set<string>} uris */
function create(uris) {
  const capabilities = { resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } };
  const mcp = new McpServer(info, { capabilities });
  mcp.registerTool('echo', { description: echoDescription, inputSchema: echoInput }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  mcp.server.setRequestHandler('resources/subscribe', ({ params }) => {
    uris.add(params.uri);
    return {};
  });
  return mcp;
}

async function handle(req, res) {
  if (req.headers['mcp-method'] !== undefined) return handleModern(req, res);
  const existing = sessions.get(String(req.headers['mcp-session-id']));
  if (existing !== undefined) return existing.transport.handleRequest(req, res);
  const uris = new Set();
  const server = create(uris);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, { transport, server, uris }),
  });
  await server.connect(transport);
  await transport.handleRequest(req, res);
}

const http = createServer((req, res) => void handle(req, res));
http.listen(0, '127.0.0.1', () =>
  reportStreams(http.address().port, {
    list() {
      modern.notify.toolsChanged();
      for (const { server } of sessions.values()) void server.sendToolListChanged();
    },
    resource(uri) {
      modern.notify.resourceUpdated(uri);
      for (const { server, uris } of sessions.values())
        if (uris.has(uri)) void server.server.sendResourceUpdated({ uri });
    },
  }),
);
