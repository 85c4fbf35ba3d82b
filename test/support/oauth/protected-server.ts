import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { createServer, insufficientScope, type Server, tool } from 'fullmcp';
import type { AuthProvider } from 'fullmcp/auth';
import { createPlugin } from 'fullmcp/fastify';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler, type Serving, serve } from 'fullmcp/node';

// One protected server on every HTTP transport.

export interface ProtectedOptions {
  readonly publicUrl?: string;
  readonly allowedOrigins?: readonly string[];
  readonly maxAgeMs?: number;
}

interface Running {
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

type Start = (provider: AuthProvider, options?: ProtectedOptions) => Promise<Running>;

const SECRET = 'x'.repeat(32);

const waiting: (() => void)[] = [];

/** Ends the calls of the tool `wait`. */
export function endWaiting(): void {
  for (const resolve of waiting.splice(0)) resolve();
}

/** A server whose tools show the caller, need a scope, and stream. */
export function protectedServer(auth?: AuthProvider): Server {
  return createServer({
    name: 'protected',
    version: '1.0.0',
    secret: SECRET,
    logger: () => undefined,
    changes: true,
    ...(auth && { auth }),
    tools: {
      me: tool({ run: (_, { auth: caller }) => caller?.subject ?? 'nobody' }),
      write: tool({
        run: () => {
          throw insufficientScope(['files:write', 'offline_access']);
        },
      }),
      late: tool({
        run: (_, { progress }) => {
          progress(1, 2, 'begun');
          throw insufficientScope(['files:write']);
        },
      }),
      wait: tool({
        run: async (_, { progress }) => {
          progress(1, 2, 'begun');
          // Ignores its signal, as a careless handler does.
          await new Promise<void>((resolve) => waiting.push(resolve));
          return '';
        },
      }),
    },
  }) as Server;
}

function local({ port, close }: Serving): Running {
  return { url: `http://127.0.0.1:${port}/mcp`, close };
}

async function listening(listener: RequestListener, close: () => Promise<unknown>): Promise<Running> {
  const http = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      await Promise.all([new Promise((resolve) => http.close(resolve)), close()]);
    },
  };
}

/** The ways to serve over HTTP, each with its own `auth`. */
export const transports: Readonly<Record<string, Start>> = {
  serve: async (auth, options) =>
    local(await serve(protectedServer(), { ...options, auth, port: 0, signals: false })),
  'serve, with the auth of createServer': async (auth, options) =>
    local(await serve(protectedServer(auth), { ...options, port: 0, signals: false })),
  createNodeHandler: async (auth, options) => {
    const handler = createNodeHandler(protectedServer(), { ...options, auth });
    return listening(handler, () => handler.close({ deadlineMs: 0 }));
  },
  'createNodeHandler in Express': async (auth, options) => {
    const handler = createNodeHandler(protectedServer(), { ...options, path: '/mcp', auth });
    const app = express();
    app.use(handler);
    return listening(app, () => handler.close({ deadlineMs: 0 }));
  },
  createHandler: async (auth, options) => {
    const handler = createHandler(protectedServer(), { ...options, auth });
    return listening(
      getRequestListener((request) => handler(request)),
      () => handler.close({ deadlineMs: 0 }),
    );
  },
  'the fetch of createServer': async (auth) => {
    const server = protectedServer(auth);
    return listening(
      getRequestListener((request) => server.fetch(request)),
      () => server.close(),
    );
  },
  createPlugin: async (auth, options) => {
    const app = fastify({ forceCloseConnections: true });
    await app.register(createPlugin(protectedServer(), { ...options, path: '/mcp', auth }));
    return { url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`, close: () => app.close() };
  },
};
