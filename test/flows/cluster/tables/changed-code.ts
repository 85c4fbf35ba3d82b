import {
  type Context,
  createServer,
  type InProcess,
  inProcess,
  type Outcome,
  type Server,
  type ServerOptions,
  tool,
} from 'fullmcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { able, accept, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

/** Makes the options with which a server uses the engine. */
export type OnEngine = () => Pick<ServerOptions<undefined, undefined>, 'store' | 'cluster'>;

type Do = (key: string) => Promise<void>;
type Handler = (ctx: Context, step: Do, ask: (key: string, message?: string) => Promise<unknown>) => unknown;

interface Change {
  /** The handler after the deploy; undefined if the tool was removed. */
  readonly after: Handler | undefined;
  /** The handler before the deploy. */
  readonly before?: Handler;
  /** The end of a call that waited for an answer during the deploy. The tool of one that is `invalid` is gone, or needs another input. */
  readonly end: 'refused' | 'invalid' | 'asks again' | 'completed';
  /** The key that the error names. */
  readonly names?: string;
  /** The effects of the new code, in order. */
  readonly effects?: readonly string[];
  /** Whether the new code needs an input that the old one did not know. */
  readonly hasNewInput?: true;
}

const before: Handler = async (_ctx, step, ask) => {
  await step('charge');
  await ask('sure');
  await step('ship');
  await step('mail');
};

const changes: Readonly<Record<string, Change>> = {
  'is unchanged': { after: before, end: 'completed', effects: ['ship', 'mail'] },
  'has lost a step': {
    after: async (_ctx, step, ask) => {
      await ask('sure');
      await step('ship');
      await step('mail');
    },
    end: 'refused',
    names: 'charge',
  },
  'has lost a step, and catches every error': {
    after: async (_ctx, step, ask) => {
      await ask('sure');
      await step('ship').catch(() => undefined);
      await step('mail').catch(() => undefined);
    },
    end: 'refused',
    names: 'charge',
  },
  'has lost a step, and runs the others in parallel': {
    after: async (_ctx, step, ask) => {
      await ask('sure');
      await Promise.all([step('ship'), step('mail')]);
    },
    end: 'refused',
    names: 'charge',
  },
  'has a new step before the question': {
    after: async (_ctx, step, ask) => {
      await step('charge');
      await step('reserve');
      await ask('sure');
      await step('ship');
    },
    end: 'refused',
    names: 'sure',
  },
  'has a new step after the question': {
    after: async (_ctx, step, ask) => {
      await step('charge');
      await ask('sure');
      await step('pack');
      await step('ship');
    },
    end: 'completed',
    effects: ['pack', 'ship'],
  },
  'has another name for a step': {
    after: async (_ctx, step, ask) => {
      await step('bill');
      await ask('sure');
      await step('ship');
    },
    end: 'refused',
    names: 'charge',
  },
  'has a later step before the question': {
    after: async (_ctx, step, ask) => {
      await step('charge');
      await step('ship');
      await ask('sure');
      await step('mail');
    },
    end: 'refused',
    names: 'sure',
  },
  'has the question before the step': {
    after: async (_ctx, step, ask) => {
      await ask('sure');
      await step('charge');
      await step('ship');
    },
    end: 'completed',
    effects: ['ship'],
  },
  'asks another question under the same key': {
    after: async (_ctx, step, ask) => {
      await step('charge');
      await ask('sure', 'Really?');
      await step('ship');
    },
    end: 'asks again',
    effects: ['ship'],
  },
  'has lost the question': {
    after: async (_ctx, step) => {
      await step('charge');
      await step('ship');
      await step('mail');
    },
    end: 'refused',
    names: 'sure',
  },
  'has a step in place of the question': {
    after: async (_ctx, step) => {
      await step('charge');
      await step('sure');
    },
    end: 'refused',
    names: 'sure',
  },
  'has a question in place of the step': {
    after: async (_ctx, step, ask) => {
      await ask('charge');
      await ask('sure');
      await step('ship');
    },
    end: 'refused',
    names: 'charge',
  },
  'no longer calls a tool that had a step': {
    before: async (ctx, step, ask) => {
      await ctx.call('inner');
      await ask('sure');
      await step('ship');
    },
    after: async (_ctx, step, ask) => {
      await ask('sure');
      await step('ship');
    },
    end: 'refused',
    names: 'inner#1/pack',
  },
  'is gone': { after: undefined, end: 'invalid' },
  'needs another input': { after: before, end: 'invalid', hasNewInput: true },
};

const question = (message = 'Sure?') => ({ message, schema: z.object({ ok: z.boolean() }) });
const answers = { sure: accept({ ok: true }) };
const kinds = ['task', 'call'] as const;
type Kind = (typeof kinds)[number];
const nameOf = (change: string, kind: Kind) => `${kind} ${change}`.replaceAll(/\W+/g, '_');

/**
 * Runs waiting tasks and calls whose code a deploy changes: no effect of the new code precedes the check. First only the new code runs,
 * and then the old one beside it.
 */
export function changedCodeTable(onEngine: OnEngine): void {
  const effects = new Map<string, string[]>();
  const waiting = new Map<string, Outcome>();
  /** The tasks that wait until the old code runs again, by the names of their tools. */
  const refused = new Map<string, Outcome>();
  let server: Server;
  let call: InProcess;

  function deploy(version: 'before' | 'after'): Server {
    const tools = Object.entries(changes).flatMap(([change, { [version]: handler, hasNewInput }]) =>
      kinds.flatMap((kind) => {
        const run = version === 'before' ? (handler ?? before) : handler;
        if (run === undefined) return [];
        const name = nameOf(change, kind);
        const step = (ctx: Context) => (key: string) =>
          ctx.step(key, () => void effects.set(name, [...(effects.get(name) ?? []), key]));
        const definition = tool({
          input: version === 'after' && hasNewInput ? z.object({ address: z.string() }) : z.object({}),
          ...(kind === 'task' && { task: 'required' as const }),
          run: async (_input: object, ctx: Context) => {
            await run(ctx, step(ctx), (key, message) => ctx.ask(key, question(message)));
            return 'done';
          },
        });
        return [[name, definition] as const];
      }),
    );
    return createServer({
      name: 'shop',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      logger: () => undefined,
      tools: {
        ...Object.fromEntries(tools),
        inner: tool({ run: (_, ctx) => ctx.step('pack', () => 'packed') }),
      },
      ...onEngine(),
    });
  }

  beforeAll(async () => {
    const old = deploy('before');
    call = inProcess(old, able);
    const start = async (name: string): Promise<Outcome> => {
      const started = await call('tools/call', { name });
      const { taskId } = started;
      if (taskId !== undefined) await waitForStatus(call, taskId, 'input_required');
      return started;
    };
    for (const [change, { end }] of Object.entries(changes)) {
      for (const kind of kinds) {
        const name = nameOf(change, kind);
        waiting.set(name, await start(name));
      }
      const name = nameOf(change, 'task');
      if (end === 'refused' || end === 'invalid') refused.set(name, await start(name));
    }
    await old.close();
    effects.clear();
    server = deploy('after');
    call = inProcess(server, able);
  }, 60_000);
  afterAll(() => server?.close());

  const answer = (name: string, { taskId, requestState }: Outcome): Promise<Outcome> =>
    taskId === undefined
      ? call('tools/call', { name, inputResponses: answers, requestState })
      : call('tasks/update', { taskId, inputResponses: answers });

  /** The reason for which a call is refused, or a task fails because no process has the code before. */
  async function refusal(name: string, started: Outcome): Promise<string> {
    const { taskId } = started;
    if (taskId === undefined) return answer(name, started).then((result) => JSON.stringify(result), String);
    await answer(name, started);
    return JSON.stringify((await waitForStatus(call, taskId, 'failed'))['error']);
  }

  describe.concurrent.each(kinds)('a waiting %s whose handler', (kind) => {
    test.each(Object.entries(changes))('%s', async (change, { end, names, effects: expected = [] }) => {
      const name = nameOf(change, kind);
      const started = waiting.get(name) as Outcome;
      const { taskId } = started;
      if (end === 'refused') {
        expect(await refusal(name, started)).toMatch(new RegExp(`did not reach \\\\?"${names}\\\\?" again`));
      } else if (end === 'invalid') {
        expect(await refusal(name, started)).toMatch(/Unknown tool|[Ii]nvalid|no longer valid/);
      } else {
        let last = await answer(name, started);
        if (end === 'asks again') {
          if (taskId === undefined) expect(last.resultType).toBe('input_required');
          else {
            await until('the task asks the new question', async () =>
              JSON.stringify(await call('tasks/get', { taskId })).includes('Really?'),
            );
          }
          expect(effects.get(name) ?? []).toEqual([]);
          last = await answer(name, taskId === undefined ? last : started);
        }
        if (taskId === undefined) expect(last).toMatchObject({ content: [{ text: 'done' }] });
        else await waitForStatus(call, taskId, 'completed');
      }
      expect(effects.get(name) ?? []).toEqual(expected);
    });
  });

  describe('a waiting task that a process with the new code refuses', () => {
    test('is continued by a process with the code before, and each of its steps runs once', async () => {
      const before = deploy('before');
      await before.start();
      for (const [name, started] of refused) await answer(name, started);
      for (const [name, { taskId }] of refused) {
        await waitForStatus(call, taskId, 'completed', 90_000);
        expect(effects.get(name), name).toEqual(name.includes('tool_that_had') ? ['ship'] : ['ship', 'mail']);
      }
      await before.close();
      // Each of the many tasks is answered and continues after the other.
    }, 120_000);
  });
}
