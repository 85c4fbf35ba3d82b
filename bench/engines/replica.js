// One replica: a server with tasks, steps and questions, and the load on itself. Parent and child talk over IPC.
import { readdirSync } from 'node:fs';
import { fullmcp } from '../fullmcp.js';
import { info } from '../request.js';
import { answerParent } from '../servers/report.js';

const { createServer, inProcess, tool } = await fullmcp('index');
const { serve } = await fullmcp('node');

const folder = process.env['STORE'];
const store = folder === undefined ? undefined : (await fullmcp('lmdb')).lmdbStore(folder);
const TASKS = 'io.modelcontextprotocol/tasks';
const able = { capabilities: { elicitation: {}, extensions: { [TASKS]: {} } } };
const text = { type: 'object', properties: { text: { type: 'string' } } };

/** What the handlers have done. */
const done = { tasks: 0, steps: 0, asked: 0, left: 0 };
/** The tasks that this process waits for. @type {Map<number, () => void>} */
const waiting = new Map();

const server = createServer({
  ...info,
  store,
  changes: true,
  logger: (level, message) => level === 'error' && console.error(message),
  tasks: { maxTasks: 100_000, ...JSON.parse(process.env['TASKS'] ?? '{}') },
  tools: {
    echo: tool({ input: text, run: (input) => input.text }),
    // A task with as many steps as its caller wants.
    job: tool({
      task: 'optional',
      input: { type: 'object', properties: { id: { type: 'number' }, steps: { type: 'number' } } },
      async run({ id, steps }, ctx) {
        for (let step = 1; step <= steps; step++) {
          await ctx.step(`step ${step}`, () => 'the result of a step, as short as the id of an order');
          done.steps++;
        }
        done.tasks++;
        reached(id);
        return 'done';
      },
    }),
    asks: tool({
      task: 'optional',
      input: { type: 'object', properties: { id: { type: 'number' }, stays: { type: 'boolean' } } },
      async run({ id, stays }, ctx) {
        done.asked++;
        if (stays) reached(id);
        try {
          await ctx.ask('sure', { message: 'Continue?', schema: text });
        } finally {
          done.left++;
          if (!stays) reached(id);
        }
        return 'done';
      },
    }),
  },
});

/** @param {number} id */
function reached(id) {
  waiting.get(id)?.();
  waiting.delete(id);
}

let nextId = 1;
/** Creates a task, and waits until its handler has reached its end or its question. */
async function run(name, args) {
  const id = nextId++;
  const isThere = new Promise((resolve) => waiting.set(id, () => resolve(undefined)));
  await call('tools/call', { name, arguments: { id, ...args } });
  await isThere;
}

const call = inProcess(server, able);
const { port } = await serve(server, { port: 0, host: '127.0.0.1', signals: false });

/** Runs tasks side by side for `ms`. Counts what was done until all of them had ended in the store, too. */
async function tasks({ steps, window, ms }) {
  const [before, cpu, from] = [{ ...done }, process.cpuUsage(), performance.now()];
  await Promise.all(
    Array.from({ length: window }, async () => {
      while (performance.now() < from + ms) await run('job', { steps });
    }),
  );
  while ((await server.shared.store.size(`task:${info.name}`)) > 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const { user, system } = process.cpuUsage(cpu);
  return {
    tasks: done.tasks - before.tasks,
    steps: done.steps - before.steps,
    ms: performance.now() - from,
    cpuMs: (user + system) / 1000,
  };
}

/** Makes tasks that ask, and waits until all of them wait for their answers: in this process, or only in the store. */
async function park({ count, stays }) {
  let left = count;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await run('asks', { stays });
    }),
  );
  return { handlers: done.asked - done.left };
}

/** The heap that is in use, the memory of the process, and its open files. */
function memory() {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, rss, files: readdirSync('/proc/self/fd').length };
}

function change() {
  server.changed.tools();
  return true;
}

answerParent(port, { tasks, park, memory, change });
