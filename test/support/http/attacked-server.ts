import { setImmediate as turn } from 'node:timers/promises';
import { createServer, prompt, resource, type Server, tool } from 'fullmcp';
import { z } from 'zod';
import { until } from '../until.js';

/** A server with tools, resources and prompts that an attacker would try, and a record of its handlers' calls. */
export interface Attacked {
  readonly server: Server;
  /** How often a tool has begun, and how often its signal has aborted. The subscriptions count as `listen`. */
  readonly begun: (tool: string) => number;
  readonly aborted: (tool: string) => number;
  /** The number of handlers that have not returned. */
  readonly running: () => number;
  /** Lets a waiting `gated` tool continue to its next step. */
  readonly open: () => void;
  /** How many characters of progress `flood` has sent. */
  readonly sent: () => number;
  /** The messages of the server's log. */
  readonly messages: string[];
  /** The messages of the level `error`. */
  readonly errors: string[];
}

export function attackedServer(): Attacked {
  const begun = new Map<string, number>();
  const aborted = new Map<string, number>();
  const messages: string[] = [];
  const errors: string[] = [];
  let running = 0;
  let passes = 0;
  let sent = 0;
  const count = (map: Map<string, number>, name: string): void =>
    void map.set(name, (map.get(name) ?? 0) + 1);

  async function watch<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    count(begun, name);
    running += 1;
    signal.addEventListener('abort', () => count(aborted, name), { once: true });
    try {
      return await work();
    } finally {
      running -= 1;
    }
  }

  const server = createServer({
    name: 'attacked',
    version: '1.0.0',
    changes: true,
    use: [
      (call, next) => {
        if (call.method === 'subscriptions/listen') {
          count(begun, 'listen');
          call.signal.addEventListener('abort', () => count(aborted, 'listen'), { once: true });
        }
        return next(call);
      },
    ],
    logger: (level, message) => {
      messages.push(message);
      if (level === 'error') errors.push(message);
    },
    tools: {
      echo: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text }),
      any: tool({ input: { type: 'object' }, run: (input) => JSON.stringify(input) }),
      strict: tool({
        input: z.strictObject({ count: z.number(), unit: z.enum(['m', 'km']).optional() }),
        run: ({ count: n }) => `${n}`,
      }),
      routed: tool({
        input: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        },
        run: (input) => JSON.stringify(input),
      }),
      crash: tool({
        run: () => {
          throw new Error('postgres://admin:hunter2@10.0.0.7 refused');
        },
      }),
      hang: tool({ run: (_input, { signal }) => watch('hang', signal, () => ended(signal)) }),
      hangAfterProgress: tool({
        run: (_input, { signal, progress }) =>
          watch('hangAfterProgress', signal, () => {
            progress(1);
            return ended(signal);
          }),
      }),
      flood: tool({
        run: (_input, { signal, progress }) =>
          watch('flood', signal, async () => {
            const message = 'x'.repeat(16_384);
            for (let at = 1; !signal.aborted; at++) {
              progress(at, undefined, message);
              sent += message.length;
              await turn();
            }
            return 'stopped';
          }),
      }),
      count: tool({
        // Random numbers are tried, and one of them is 1e308.
        input: z.object({ to: z.number().max(1000) }),
        run: ({ to }, { progress }) => {
          for (let at = 1; at <= to; at++) progress(at, to);
          return `counted to ${to}`;
        },
      }),
      gated: tool({
        input: z.object({ to: z.number(), release: z.boolean().optional() }),
        run: ({ to, release }, { signal, progress, release: letGo }) =>
          watch('gated', signal, async () => {
            if (release) letGo();
            for (let at = 1; at <= to; at++) {
              await until('the gate is open', () => passes > 0 || signal.aborted, 15_000);
              passes -= 1;
              progress(at, to);
            }
            return 'through';
          }),
      }),
    },
    resources: {
      'config://app': resource({ read: () => ({ debug: true }) }),
      'file:///docs/{name}': resource({ read: ({ name }) => `doc ${String(name)}` }),
      'tree://{+path}': resource({ read: ({ path }) => `tree ${String(path)}` }),
    },
    prompts: {
      greet: prompt({ args: z.object({ name: z.string() }), run: ({ name }) => `Greet ${name}` }),
    },
  });
  return {
    server,
    begun: (name) => begun.get(name) ?? 0,
    aborted: (name) => aborted.get(name) ?? 0,
    running: () => running,
    open: () => {
      passes += 1;
    },
    sent: () => sent,
    messages,
    errors,
  };
}

function ended(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('ended');
    else signal.addEventListener('abort', () => resolve('ended'), { once: true });
  });
}
