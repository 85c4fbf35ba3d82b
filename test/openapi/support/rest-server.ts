import { createServer, image, prompt, resource, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

/** The bytes of a small image. */
export const picture = new Uint8Array([137, 80, 78, 71, 0, 255]);

const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), parts: z.array(tree).optional() }));

/** A server with tools of every kind. */
export function restServer(options: object = {}) {
  return createServer({
    name: 'workshop',
    version: '1.2.3',
    tools: {
      add: tool({
        title: 'Adds numbers',
        description: 'Adds two numbers.',
        input: z.strictObject({ a: z.number(), b: z.number().default(1) }),
        output: z.object({ sum: z.number() }),
        run: ({ a, b }) => ({ sum: a + b }),
      }),
      greet: tool({ input: z.strictObject({ name: z.string() }), run: ({ name }) => `Hello ${name}` }),
      echo: tool({ input: z.looseObject({}), run: (input) => ({ ...input }) }),
      count: tool({ run: () => 42 }),
      nothing: tool({ run: () => undefined }),
      picture: tool({ run: () => image(picture, 'image/png') }),
      mixed: tool({ run: () => ['A picture:', image(picture, 'image/png')] }),
      odd: tool({
        run: () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'text/html\r\nX-Evil: 1' }] }),
      }),
      fail: tool({
        run: () => {
          throw new ToolError('Order 7 does not exist.');
        },
      }),
      crash: tool({
        run: () => {
          throw new Error('the password is swordfish');
        },
      }),
      ask: tool({
        run: async (_, ctx) => {
          const { yes } = await ctx.ask('sure', {
            message: 'Really?',
            schema: z.object({ yes: z.boolean() }),
          });
          return `${yes}`;
        },
      }),
      later: tool({ task: 'required', run: () => 'done' }),
      'v1.list-all': tool({ input: z.strictObject({ tree }), run: ({ tree: given }) => ({ tree: given }) }),
    },
    resources: {
      'docs://intro': resource({ mimeType: 'text/markdown', read: () => '# Intro' }),
      'docs://page': resource({ mimeType: 'text/html', read: () => '<script>alert(1)</script>' }),
      'files://{name}': resource({ read: ({ name }) => (name === 'none' ? undefined : picture) }),
    },
    prompts: {
      review: prompt({ args: z.object({ code: z.string() }), run: ({ code }) => `Review ${code}` }),
    },
    logger: () => undefined,
    ...options,
  });
}
