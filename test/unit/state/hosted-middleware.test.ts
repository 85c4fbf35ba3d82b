import { createServer, type Middleware } from 'fullmcp';
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
