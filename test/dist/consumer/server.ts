import { createServer, tool } from 'fullmcp';
import { app, appPage, apps, withApp } from 'fullmcp/apps';
import { connect } from 'fullmcp/client';
import * as http from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { serveStdio } from 'fullmcp/stdio';
import * as websocket from 'fullmcp/websocket';
import { z } from 'zod';

// Exported without an annotation: every inferred type must have a name that a consumer can write.
export const server = createServer({
  name: 'math',
  version: '1.0.0',
  tools: {
    add: tool({
      description: 'Add two numbers',
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => a + b,
    }),
  },
});

export async function main(): Promise<void> {
  const running = await serve(server, { port: 0 });
  console.log(`${running.url}`);
  await running.close();
  await serveStdio(server);
}

export async function add(): Promise<number> {
  await using client = await connect<typeof server>(server);
  // @ts-expect-error b is missing
  await client.tool.add({ a: 1 });
  return client.tool.add({ a: 1, b: 2 });
}

export const handler: (request: Request) => Promise<Response> = http.createHandler(server);
export const entries: object[] = [http, websocket];

tool({
  input: z.object({ a: z.number() }),
  // @ts-expect-error b is not in the schema
  run: ({ a, b }) => a + b,
});

// A server with apps needs no types of the DOM.
const page = app({ uri: 'ui://page', html: appPage({ body: 'Hello' }) });
createServer({
  name: 'pages',
  version: '1.0.0',
  tools: { show: withApp(tool({ run: () => 'Hello' }), page) },
  extensions: [apps(page)],
});

// Entries whose declarations name types of the platform: of cryptography, of bytes and of requests.
export type { PrivateKeyJwtOptions, SafeFetchInit } from 'fullmcp/oauth';
export type { PostgresOptions } from 'fullmcp/postgres';
