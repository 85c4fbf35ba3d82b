import { createServer, type Middleware, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import type { HostedMiddleware, MiddlewareLifetime } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { expect, it } from 'vitest';

function hosted(lifetime: MiddlewareLifetime): HostedMiddleware {
  const pass: Middleware = (call, next) => next(call);
  return Object.assign(pass, {
    forServer(host: Parameters<HostedMiddleware['forServer']>[0]) {
      host.attach(lifetime);
      return pass;
    },
  });
}

it('starts middleware with the server, and closes all of it after the last call, even if one part fails', async () => {
  const events: string[] = [];
  const server = createServer({
    name: 'hosted',
    version: '1.0.0',
    logger: (level, message) => events.push(`${level}: ${message}`),
    use: [
      hosted({ start: async () => void events.push('start'), close: () => Promise.reject(new Error('x')) }),
      hosted({
        close: async () => {
          events.push('close');
          throw new Error('y');
        },
      }),
      hosted({ close: async () => void events.push('close too') }),
    ],
  });
  const serving = await serve(server, { port: 0, signals: false });
  expect(events).toEqual(['start']);
  await serving.close();
  expect(events.slice(1, 5)).toEqual([
    'close',
    'close too',
    'error: Middleware could not be closed',
    'error: Middleware could not be closed',
  ]);
});

it('does not listen if middleware cannot start', async () => {
  const server = createServer({
    name: 'hosted',
    version: '1.0.0',
    use: [hosted({ start: () => Promise.reject(new Error('The disk is away')) })],
  });
  await expect(serve(server, { port: 0, signals: false })).rejects.toThrow('The disk is away');
  await server.close();
});

it('starts the middleware of a tool that is added to the running server, and closes it with the server', async () => {
  const events: string[] = [];
  const server = createServer({
    name: 'hosted',
    version: '1.0.0',
    logger: (level, message) => events.push(`${level}: ${message}`),
    tools: { first: tool({ run: () => '' }) },
  });
  await server.start();
  const lifetime = {
    start: async () => void events.push('start'),
    close: async () => void events.push('close'),
  };
  server.tool('late', { use: [hosted(lifetime)] }, () => 'late');
  server.tool('broken', { use: [hosted({ start: () => Promise.reject(new Error('x')) })] }, () => 'broken');
  await using client = await connect(server);
  for (const name of ['late', 'late', 'broken']) expect((await client.callTool(name)).text).toBe(name);
  expect(events).toEqual(['start', 'error: Middleware could not be started']);
  await server.close();
  expect(events.at(-1)).toBe('close');
});
