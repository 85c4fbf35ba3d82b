import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request that an API got. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Upstream extends AsyncDisposable {
  readonly baseUrl: string;
  readonly received: Received[];
}

/** An API on this computer that records its requests and replies with `reply`, or else with an empty object. */
export async function startUpstream(
  reply: (response: ServerResponse, request: IncomingMessage) => void = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  },
): Promise<Upstream> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    received.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: body.toString(),
    });
    reply(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
