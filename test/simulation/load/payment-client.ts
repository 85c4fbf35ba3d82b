// A client that pays: a call with an idempotency key, repeated until its outcome is known.

import type { Client } from './client.js';

const AGAIN_MS = 300;

/** Pays once, however often the call has to be repeated. */
export async function pay(client: Client, id: string): Promise<void> {
  const { random } = client.world;
  for (;;) {
    const end = random.chance(0.2)
      ? await Promise.any([attempt(client, id), attempt(client, id)]).catch(() => undefined)
      : await attempt(client, id).catch(() => undefined);
    if (end !== undefined) return;
    await client.world.sleep(AGAIN_MS * random.between(0.5, 2));
  }
}

/** Resolves when the outcome is known, or known to be unknown. Rejects if the call has to be repeated. */
async function attempt(client: Client, id: string): Promise<'paid' | 'unknown'> {
  const { ledger, world, subject } = client;
  const timeoutMs = world.random.between(1000, 8000);
  const reply = await client.call(
    'tools/call',
    { name: 'pay', arguments: { id }, _meta: { 'fullmcp/idempotencyKey': `key of ${id}` } },
    { timeoutMs },
  );
  if ('failure' in reply) {
    const { reason } = (reply.failure.data ?? {}) as { reason?: string };
    if (reason === 'unknown_outcome') return 'unknown';
  }
  if (!('outcome' in reply)) throw new Error('The outcome is not known yet');
  const { nonce } = reply.outcome['structuredContent'] as { nonce: string };
  const nonces = ledger.payments.get(`${subject} ${id}`) ?? [];
  if (!nonces.includes(nonce) && [...ledger.payments.values()].flat().includes(nonce))
    ledger.violate('served to another caller', `${id} of ${subject} returned ${nonce}`);
  else if (nonces.length !== 1 || nonces[0] !== nonce)
    ledger.violate('keyed call took effect twice', `${id} returned ${nonce}; the effects are ${nonces}`);
  return 'paid';
}
