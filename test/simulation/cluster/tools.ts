// The tools of the simulated server. Their effects go into the ledger.

import { type Context, event, tool } from 'fullmcp';
import type { Actor } from '../world/scheduler.js';
import type { Recorded } from '../world/world.js';

/** The arguments of a job: how it is to run. */
export interface JobArgs {
  readonly id: string;
  readonly steps: number;
  /** The step before which the job asks; 0 if it never does. */
  readonly askAt: number;
  /** The number of questions that it asks at once. */
  readonly questions: number;
  /** The number of branches that run steps at the same time. */
  readonly branches: number;
  /** Whether a branch runs a step while the others wait for an answer. */
  readonly isBusy: boolean;
}

/** The arguments of a consultation: a call that asks. */
export interface ConsultArgs {
  readonly id: string;
  /** The number of its parts. Each has a step, and all but the last end with questions. */
  readonly parts: number;
  /** The number of questions that it asks at once. */
  readonly questions: number;
  /** Whether it sends log messages: one at level `info`, and one at level `error` for each part, with its number. */
  readonly isLoud: boolean;
}

const code = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] } as const;

/** The types of events of a replica. */
export const simulatedEvents = { happened: event({ payload: { type: 'object' } }) };

/** Makes the tools of a replica. */
export function simulatedTools({ world, ledger }: Recorded, replica: Actor) {
  const { random, settings } = world;

  function step(ctx: Context, id: string, key: string): Promise<string> {
    return ctx.step(key, async ({ idempotencyKey }) => {
      const nonce = crypto.randomUUID().slice(0, 8);
      ledger.onStep(id, key, { replica, nonce, key: idempotencyKey });
      await world.sleep(random.between(0, settings.stepMs));
      return nonce;
    });
  }

  async function ask(ctx: Context, id: string, question: string): Promise<string> {
    const message = `Continue with ${id} ${question}?`;
    const answer = await ctx.ask(`question ${question}`, { message, schema: code });
    return (answer as { code: string }).code;
  }

  return {
    job: tool({
      task: 'required',
      input: { type: 'object' },
      async run(input, ctx) {
        const { id, steps, askAt, questions, branches, isBusy } = input as unknown as JobArgs;
        const nonces: Record<string, string> = {};
        let codes: string[] = [];
        for (let at = 1; at <= steps; at++) {
          if (at === askAt) {
            const beside = async (): Promise<void> => {
              if (!isBusy) return;
              await world.sleep(random.between(0, 2 * settings.parkMs));
              nonces['beside'] = await step(ctx, id, 'beside');
            };
            const asked = Array.from({ length: questions }, (_, n) => ask(ctx, id, String(n)));
            [codes] = await Promise.all([Promise.all(asked), beside()]);
          }
          await Promise.all(
            Array.from({ length: branches }, async (_, branch) => {
              const key = `step ${at}.${branch}`;
              nonces[key] = await step(ctx, id, key);
            }),
          );
        }
        return { id, codes, nonces };
      },
    }),
    pay: tool({
      input: { type: 'object' },
      async run(input, ctx) {
        const { id } = input as { id: string };
        const nonce = crypto.randomUUID().slice(0, 8);
        ledger.onPayment(replica, `${ctx.auth?.subject} ${id}`, nonce);
        await world.sleep(random.between(0, settings.stepMs));
        return { id, nonce };
      },
    }),
    tell: tool({
      input: { type: 'object' },
      async run(input, ctx) {
        const { id } = input as { id: string };
        await ctx.emit('happened', { id }, { eventId: id });
        return id;
      },
    }),
    consult: tool({
      input: { type: 'object' },
      async run(input, ctx) {
        const { id, parts, questions, isLoud } = input as unknown as ConsultArgs;
        const nonces: string[] = [];
        const codes: string[] = [];
        if (isLoud) ctx.log.info(`${id} begins`);
        for (let part = 1; part <= parts; part++) {
          if (isLoud) ctx.log.error(part);
          const nonce = await ctx.step(`step ${part}`, async ({ idempotencyKey }) => {
            const made = crypto.randomUUID().slice(0, 8);
            ledger.calls.onStep(id, part, { replica, nonce: made, key: idempotencyKey });
            await world.sleep(random.between(0, settings.stepMs / 4));
            return made;
          });
          nonces.push(nonce);
          if (part === parts) break;
          const asked = Array.from({ length: questions }, (_, n) => ask(ctx, id, `${part}.${n}`));
          codes.push(...(await Promise.all(asked)));
        }
        return { id, subject: ctx.auth?.subject ?? '', codes, nonces };
      },
    }),
  };
}
