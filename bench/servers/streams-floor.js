// Bare node:http with open responses, and the loop that writes the same bytes to all of them.
import { createServer } from 'node:http';
import { reportStreams } from './streams-report.js';

const streams = new Set();
const http = createServer((req, res) => {
  if (req.method === 'POST') {
    req.resume().on('end', () => res.writeHead(200, { 'content-length': 2 }).end('{}'));
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  res.flushHeaders();
  streams.add(res);
  res.on('close', () => streams.delete(res));
});
const event = (method, params) => {
  const meta = { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, ...meta } })}\n\n`;
};
function announce(text) {
  for (const res of streams) res.write(text);
}
http.listen(0, '127.0.0.1', () =>
  reportStreams(http.address().port, {
    list: () => announce(event('notifications/tools/list_changed')),
    resource(uri) {
      const text = event('notifications/resources/updated', { uri });
      if (uri === 'bench://all') announce(text);
      else [...streams][Number(uri.split('/').at(-1))].write(text);
    },
  }),
);
