// A client of 2026-07-28 that makes a call that asks: it sends the call again with the answers, to any replica.

import type { Reply } from '../cluster/network.js';
import type { ConsultArgs } from '../cluster/tools.js';
import { answerTo, checkConsultation, partOf } from './answers.js';
import type { Client } from './client.js';

interface Asked {
  readonly requestState: string;
  readonly inputRequests: Record<string, { readonly params: { readonly message: string } }>;
}

const AGAIN_MS = 300;

/** Makes a call, answers its questions, and checks its result. */
export async function consult(client: Client, args: ConsultArgs): Promise<void> {
  const { world, ledger, subject } = client;
  const { random, scheduler } = world;
  const startedAt = scheduler.now;
  const isKeyed = subject !== undefined && random.chance(0.3);
  const meta = isKeyed ? { _meta: { 'fullmcp/idempotencyKey': `key of ${args.id}` } } : {};
  const params = { name: 'consult', arguments: { ...args }, ...meta };
  let more: Record<string, unknown> = {};
  let part = 1;
  for (let sent = 0; ; ) {
    sent++;
    ledger.calls.onSent(args.id, part);
    const timeoutMs = random.between(2000, 10_000);
    const reply = await client.call('tools/call', { ...params, ...more }, { timeoutMs });
    if ('failure' in reply && isOver(client, reply, sent > 1, startedAt)) return;
    if ('outcome' in reply) {
      if (reply.outcome['resultType'] !== 'input_required')
        return checkConsultation(client, args, reply.outcome);
      const { requestState, inputRequests } = reply.outcome as unknown as Asked;
      const questions = Object.entries(inputRequests);
      part = Math.max(
        part,
        ...questions.map(
          ([
            ,
            {
              params: { message },
            },
          ]) => partOf(message) + 1,
        ),
      );
      const answers = questions.map(([key, question]) => [key, answerTo(client, question.params.message)]);
      const inputResponses = Object.fromEntries(answers.filter(() => random.chance(0.9)));
      more = { requestState, inputResponses };
      ledger.calls.secrets.push({ kind: 'state', params: { ...params, ...more } });
      sent = 0;
    }
    await world.sleep(AGAIN_MS * random.between(0.1, 4));
  }
}

/** Whether a failure ends the call. Otherwise it is repeated. */
function isOver(
  { world, ledger, actor }: Client,
  { failure }: Extract<Reply, { failure: unknown }>,
  isRepeated: boolean,
  startedAt: number,
): boolean {
  const { reason } = (failure.data ?? {}) as { reason?: string };
  if (reason === 'unknown_outcome') return true;
  // The answers were used, but the reply was lost.
  const isUsed = world.settings.isOnce && failure.message.startsWith('params.requestState was rejected');
  if (isUsed && isRepeated) return true;
  if (failure.code === 'overloaded' || failure.code === 'connection_closed') {
    if (ledger.calls.mayFail(startedAt)) return false;
  }
  ledger.violate('call failed', `${actor.name}: ${JSON.stringify(failure)}`);
  return true;
}
