import { createServer, request } from 'node:http';
import process from 'node:process';

// A balancer for this machine: node balancer.ts 3001 3002. In production, your platform or nginx has one.

const port = Number(process.env.PORT ?? 3000);
const ports = process.argv.slice(2).map(Number);
let turn = 0;

createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const send = (attempts = ports.length) => {
    if (attempts === 0) return void outgoing.writeHead(503).end();
    turn += 1;
    const next = ports[turn % ports.length];
    const onward = request({ host: '127.0.0.1', port: next, method, path, headers, agent: false });
    // The body is sent when the process has accepted the connection. Until then, another process can have it.
    onward.on('socket', (socket) => socket.once('connect', () => incoming.pipe(onward)));
    onward.on('response', (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
      reply.on('error', () => outgoing.destroy());
    });
    onward.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNREFUSED') send(attempts - 1);
      else outgoing.destroy();
    });
    outgoing.on('close', () => onward.destroy());
  };
  send();
}).listen(port, '127.0.0.1', () =>
  console.log(`http://localhost:${port}/mcp, in front of ${ports.join(', ')}`),
);
