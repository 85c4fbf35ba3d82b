import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

/** The calls that an instance of the test's server has seen. */
interface SeenCalls {
  readonly names: string[];
  readonly aborted: unknown[];
}

/** A server for tests over NATS, with an account of its calls. */
export function makeServer(
  options: { readonly name?: string; readonly secret?: string; readonly where?: string } = {},
) {
  const { name = 'tools', secret, where = 'here' } = options;
  const seen: SeenCalls = { names: [], aborted: [] };
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer({
    name,
    version: '1.2.3',
    description: 'A server for tests.',
    ...(secret !== undefined && { secret }),
    changes: true,
    tools: {
      add: tool({
        input: z.object({ a: z.number(), b: z.number() }),
        run: ({ a, b }) => {
          seen.names.push('add');
          return a + b;
        },
      }),
      where: tool({ run: () => where }),
      echo: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text }),
      large: tool({ input: z.object({ length: z.number() }), run: ({ length }) => 'é'.repeat(length) }),
      fail: tool({
        run: () => {
          throw new Error('secret details');
        },
      }),
      steps: tool({
        run: async (_input, ctx) => {
          for (let n = 1; n <= 3; n++) ctx.progress(n, 3);
          return 'done';
        },
      }),
      wait: tool({
        run: async (_input, ctx) => {
          seen.names.push('wait');
          ctx.progress(1);
          await Promise.race([
            held,
            new Promise((_resolve, reject) => {
              ctx.signal.addEventListener('abort', () => {
                seen.aborted.push(ctx.signal.reason);
                reject(ctx.signal.reason);
              });
            }),
          ]);
          return where;
        },
      }),
      ask: tool({
        run: async (_input, ctx) => {
          const { name: user } = await ctx.ask('name', {
            message: 'Your name?',
            schema: z.object({ name: z.string() }),
          });
          return `${user} at ${where}`;
        },
      }),
      whoami: tool({ run: (_input, ctx) => ctx.auth?.subject ?? 'nobody' }),
    },
  });
  return { server, seen, release: () => release() };
}

/** Closes everything that a test has opened, the last first. */
export class Closing {
  readonly #open: (() => Promise<unknown>)[] = [];

  add<T extends { close: () => Promise<unknown> }>(value: T): T {
    this.#open.push(() => value.close());
    return value;
  }

  async all(): Promise<void> {
    for (const close of this.#open.splice(0).reverse()) await close();
  }
}
