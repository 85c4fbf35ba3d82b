// An intruder: a caller that has got hold of the names of things that belong to others.

import type { Secret } from '../checks/calls.js';
import type { Client } from './client.js';
import { Session } from './sessions/session.js';

const EVERY_MS = 4000;
const ATTEMPTS = 4;

/** Tries to use what belongs to others. Nothing of it is served. */
export async function intrude(client: Client): Promise<void> {
  const { world, ledger } = client;
  let session: Session | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await world.sleep(world.random.between(0, EVERY_MS));
    const secret = world.random.pick(ledger.calls.secrets);
    if (secret === undefined) continue;
    if (secret.kind === 'question') session ??= await openSession(client);
    if (await isServed(client, secret, session))
      ledger.violate('served to another caller', `${client.subject}: ${JSON.stringify(secret)}`);
  }
}

/** A session of its own, whose id is not a secret of others. */
async function openSession(client: Client): Promise<Session> {
  const session = await Session.open(client);
  const { secrets } = client.ledger.calls;
  const own = secrets.findIndex((secret) => secret.kind === 'session' && secret.id === session.id);
  secrets.splice(own, 1);
  return session;
}

async function isServed(client: Client, secret: Secret, own: Session | undefined): Promise<boolean> {
  switch (secret.kind) {
    case 'session': {
      const headers = { 'mcp-session-id': secret.id };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const reply = await client.fetch({ method: 'POST', headers, body });
      return 'status' in reply && reply.status === 200 && reply.body?.includes('"error"') === false;
    }
    case 'question': {
      const answer = { id: secret.id, result: { action: 'accept', content: { code: 'stolen' } } };
      const reply = await own?.post(answer);
      return reply !== undefined && 'status' in reply && reply.status === 202;
    }
    case 'task':
      return 'outcome' in (await client.call('tasks/get', { taskId: secret.taskId }));
    case 'state':
      return 'outcome' in (await client.call('tools/call', secret.params));
    default:
      return secret satisfies never;
  }
}
