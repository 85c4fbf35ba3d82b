import { createServer, type Middleware, resource, type Server, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

export interface Demo {
  readonly server: Server;
  /** The events in handlers, in order. */
  readonly events: string[];
  readonly setTemperature: (value: number) => void;
}

/** A server with one tool for each feature that the page tries. */
export function demo(): Demo {
  const events: string[] = [];
  let temperature = 20;

  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    secret: 'a secret that only tests of browsers use',
    changes: ['resource'],
    use: [lying],
    resources: { 'room://temperature': resource({ read: () => temperature }) },
    tools: {
      add: tool({
        input: z.object({ a: z.number(), b: z.number() }),
        run: ({ a, b }) => ({ sum: a + b }),
      }),
      count: tool({
        input: z.object({ to: z.int() }),
        run: ({ to }, { progress }) => {
          for (let step = 1; step <= to; step++) progress(step, to, `step ${step}`);
          return 'counted';
        },
      }),
      greet: tool({
        run: async (_input, { ask }) => {
          const schema = z.object({ name: z.string().min(1) });
          const { name } = await ask('name', { message: 'What is your name?', schema });
          return `Hello ${name}`;
        },
      }),
      wait: tool({
        run: (_input, { signal }) => {
          events.push('waiting');
          return new Promise<string>((resolve) => {
            signal.addEventListener('abort', () => {
              events.push('aborted');
              resolve('too late');
            });
          });
        },
      }),
      fail: tool({
        run: () => {
          throw new ToolError('The kettle is empty. Fill it first.');
        },
      }),
      route: tool({
        input: z.object({
          region: z.string().meta({ 'x-mcp-header': 'Region' }),
          zone: z.int().meta({ 'x-mcp-header': 'Zone' }),
        }),
        run: ({ region, zone }, { request }) => ({
          region,
          zone,
          headers: [request?.header('mcp-param-region'), request?.header('mcp-param-zone')],
        }),
      }),
      identify: tool({
        run: (_input, { client, request }) => ({
          client: client.info?.name,
          authorization: request?.header('authorization'),
        }),
      }),
      weigh: tool({
        input: z.object({ what: z.string() }),
        output: z.object({ grams: z.number() }),
        run: () => ({ grams: 3 }),
      }),
    },
  });

  return {
    server,
    events,
    setTemperature(value) {
      temperature = value;
      server.changed.resource('room://temperature');
    },
  };
}

/** Corrupts one result after the server has validated it, as a server without validation would send it. */
const lying: Middleware = async function lying(call, next) {
  const outcome = await next(call);
  const args = call.params['arguments'] as { what?: string } | undefined;
  return args?.what === 'lie' ? { ...outcome, structuredContent: { grams: 'many' } } : outcome;
};
