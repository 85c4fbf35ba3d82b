// A server in a process of its own that is shut down. Its first line of output is the address; further lines say what happened.
import { setTimeout } from 'node:timers/promises';
import { createServer, resource, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { z } from 'zod';

const { name = 'one', startMs = 0, fails, closes, ...options } = JSON.parse(process.argv[2] ?? '{}');

const server = createServer({
  name: 'shut-down',
  version: '1.0.0',
  changes: true,
  logger: (level, message) => console.log(`${level}: ${message}`),
  async *lifespan() {
    console.log('starting');
    await setTimeout(startMs);
    if (fails) throw new Error('The lifespan failed');
    yield {};
    if (closes === 'never') await new Promise(() => setInterval(() => undefined, 1000));
    if (closes === 'badly') throw new Error('The lifespan could not end');
    console.log('ended');
  },
  resources: { 'test://news': resource({ read: () => name }) },
  tools: {
    who: tool({ run: () => name }),
    slow: tool({
      input: z.object({ ms: z.number() }),
      async run({ ms }, ctx) {
        console.log('began');
        await setTimeout(ms, undefined, { signal: ctx.signal });
        return name;
      },
    }),
    talk: tool({
      input: z.object({ ms: z.number() }),
      async run({ ms }, ctx) {
        await ctx.progress(1, 2, 'begun');
        console.log('began');
        await setTimeout(ms);
        await ctx.progress(2, 2, 'done');
        return name;
      },
    }),
    announce: tool({ run: (_, ctx) => ctx.changed.resource('test://news') }),
    // A handler that shuts down its own server, and waits for it.
    leave: tool({
      async run() {
        console.log('began');
        await serving.close();
        return 'closed';
      },
    }),
  },
});

const serving = await serve(server, { port: 0, ...options });
console.log(serving.url);
await serving.closed;
console.log('closed');
