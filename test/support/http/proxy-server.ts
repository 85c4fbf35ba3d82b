import { request as ask, createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

// An HTTP proxy as companies use them: it forwards requests, and makes tunnels.

export interface ProxyServer extends AsyncDisposable {
  readonly url: string;
  /** The requests to the proxy: `POST http://…` or `CONNECT host:port`. */
  readonly requests: string[];
  /** The credentials of each request. */
  readonly credentials: (string | undefined)[];
}

export async function proxyServer({ refuse }: { readonly refuse?: number } = {}): Promise<ProxyServer> {
  const requests: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    credentials.push(request.headers['proxy-authorization']);
    if (refuse !== undefined) return void response.writeHead(refuse).end();
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const onward = ask(request.url ?? '', { method: request.method, headers, agent: false }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connection', keep);
  server.on('connect', (request, socket: Socket) => {
    requests.push(`CONNECT ${request.url}`);
    credentials.push(request.headers['proxy-authorization']);
    if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = keep(connect(Number(port), hostname === 'mcp.test' ? '127.0.0.1' : hostname));
    onward.on('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    credentials,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
