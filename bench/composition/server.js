// A server over HTTP: as it is, mounted two levels deep, or behind a proxy or a gateway to the port in the second argument. `bare` is a proxy
// of node:http alone, which reads nothing.
import { Agent, createServer as createHttp, request } from 'node:http';
import { fullmcp } from '../fullmcp.js';
import { info } from '../request.js';
import { createFullmcp } from '../servers/fullmcp-server.js';
import { answerParent } from '../servers/report.js';

const [kind, behind] = process.argv.slice(2);
const url = `http://127.0.0.1:${behind}/mcp`;
const logger = () => undefined;

async function make() {
  switch (kind) {
    case 'mounted': {
      const { createServer } = await fullmcp('index');
      const middle = createServer({ ...info, mount: { '': createFullmcp() } });
      return createServer({ ...info, mount: { '': middle } });
    }
    case 'proxy':
      return (await fullmcp('proxy')).proxy(url, { logger });
    case 'gateway':
      return (await fullmcp('gateway')).gateway({ mcpServers: { up: { url } } }, { logger });
    default:
      return createFullmcp();
  }
}

if (kind === 'bare') {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const http = createHttp((incoming, reply) => {
    const { method, url: path, headers } = incoming;
    const outgoing = request({ port: behind, host: '127.0.0.1', agent, method, path, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    incoming.pipe(outgoing);
  });
  http.listen(0, '127.0.0.1', () => answerParent(http.address().port));
} else {
  const { serve } = await fullmcp('node');
  const { port } = await serve(await make(), { port: 0, host: '127.0.0.1' });
  answerParent(port);
}
