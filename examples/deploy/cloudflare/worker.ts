import { createServer, tool } from 'fullmcp';
import { createHandler, type Handler, type RequestContext } from 'fullmcp/http';
import { z } from 'zod';

const server = createServer({
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

// #region fetch
let handler: Handler | undefined;

export default {
  // One server and one handler serve all requests. The handler is created with the first, because `env` has the secret.
  fetch(request: Request, env: { readonly MCP_SECRET?: string }, ctx?: RequestContext): Promise<Response> {
    handler ??= createHandler(server, {
      secret: env.MCP_SECRET,
      trustProxy: { proxies: 1, header: 'cf-connecting-ip' },
    });
    return handler(request, ctx);
  },
};
// #endregion
