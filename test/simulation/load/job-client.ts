// A client that starts a job, polls it, answers its questions, and cancels it at times.

import type { Reply } from '../cluster/network.js';
import type { JobArgs } from '../cluster/tools.js';
import type { Client } from './client.js';

interface TaskDetails {
  readonly status: string;
  readonly statusMessage?: string;
  readonly inputRequests?: Record<string, { readonly params: { readonly message: string } }>;
  readonly result?: { readonly structuredContent: JobResult };
  readonly error?: unknown;
}

/** The result of a job. */
export interface JobResult {
  readonly id: string;
  readonly codes: readonly string[];
  readonly nonces: Record<string, string>;
}

const POLL_MS = 500;
const AGAIN_MS = 300;

/** Runs one job. Resolves with the id of its task when the task has ended; undefined if the client never got one. */
export async function runJob(client: Client, args: JobArgs): Promise<void> {
  const { random } = client.world;
  const cancelAfter = random.chance(0.25) ? random.between(0, 10_000) : Number.POSITIVE_INFINITY;
  const taskId = await create(client, args);
  // The client does not know whether there is a task, and nobody waits for it.
  if (taskId === undefined) return;
  client.known.set(taskId, args.id);
  client.ledger.calls.secrets.push({ kind: 'task', taskId });
  const startedAt = client.world.scheduler.now;
  for (;;) {
    await client.world.sleep(POLL_MS * random.between(0.5, 1.5));
    if (client.world.scheduler.now - startedAt >= cancelAfter) {
      const cancelled = await client.call('tasks/cancel', { taskId });
      if ('failure' in cancelled && isUnknown(cancelled)) return lost(client, args.id);
    }
    const got = await client.call('tasks/get', { taskId });
    if ('failure' in got && isUnknown(got)) return lost(client, args.id);
    if (!('outcome' in got)) continue;
    const details = got.outcome as unknown as TaskDetails;
    if (details.status === 'input_required') await answer(client, taskId, details);
    else if (details.status !== 'working') return checkJob(client, args, { details, taskId, cancelAfter });
  }
}

/** Creates the task. With an idempotency key the call is repeated until its outcome is known. */
async function create(client: Client, args: JobArgs): Promise<string | undefined> {
  const { world, subject } = client;
  const params = { name: 'job', arguments: { ...args } };
  // Keys of anonymous callers are rejected.
  if (subject === undefined || world.random.chance(0.5)) {
    const created = await client.call('tools/call', params);
    return 'outcome' in created ? String(created.outcome['taskId']) : undefined;
  }
  const keyed = { ...params, _meta: { 'fullmcp/idempotencyKey': `key of ${args.id}` } };
  let taskId: string | undefined;
  // Another program of the caller may repeat a call that was successful.
  for (let repeats = world.random.chance(0.3) ? 1 : 0; ; ) {
    const reply = await client.call('tools/call', keyed, { timeoutMs: world.random.between(1000, 8000) });
    if ('failure' in reply && isUnknownOutcome(reply)) return taskId;
    if ('outcome' in reply) {
      const created = String(reply.outcome['taskId']);
      if (taskId !== undefined && created !== taskId)
        client.ledger.violate('keyed task created twice', `${args.id} is ${taskId} and ${created}`);
      taskId = created;
      if (repeats-- === 0) return taskId;
    }
    await world.sleep(AGAIN_MS * world.random.between(0.5, 2));
  }
}

function isUnknownOutcome({ failure }: Extract<Reply, { failure: unknown }>): boolean {
  return (failure.data as { reason?: string } | undefined)?.reason === 'unknown_outcome';
}

async function answer(client: Client, taskId: string, { inputRequests = {} }: TaskDetails): Promise<void> {
  const { random } = client.world;
  const answers = Object.entries(inputRequests).map(([key, { params }]) => {
    // The code is the question's own text, so that an answer to another question is noticed.
    const code = params.message.replace('Continue with ', '').replace('?', '');
    const content = random.chance(0.1) ? { wrong: true } : { code };
    return [key, { action: 'accept', content }] as const;
  });
  const some = answers.filter(() => random.chance(0.8));
  if (some.length === 0) return;
  const inputResponses = Object.fromEntries(some);
  // Users press the button twice.
  if (random.chance(0.1)) void client.call('tasks/update', { taskId, inputResponses });
  await client.call('tasks/update', { taskId, inputResponses });
}

function isUnknown({ failure }: Extract<Reply, { failure: unknown }>): boolean {
  return failure.message.startsWith('Unknown task');
}

/** Notes that a replica does not know the task of a job. */
export function lost({ ledger }: Client, id: string): void {
  ledger.violate('task lost', `${id} is unknown to a replica`);
}

interface EndedTask {
  readonly taskId: string;
  readonly details: TaskDetails;
  readonly cancelAfter: number;
}

/** Checks the end of a job. */
export function checkJob(
  { ledger }: Client,
  args: JobArgs,
  { taskId, details, cancelAfter }: EndedTask,
): void {
  const { id } = args;
  const job = ledger.jobs.byTask(taskId);
  if (details.status === 'failed') {
    // A task that was started too often without success fails, as it must.
    if ((job?.vain ?? 0) < 5) ledger.violate('task failed', `${id}: ${JSON.stringify(details.error)}`);
    return;
  }
  if (details.status === 'cancelled') {
    if (cancelAfter === Number.POSITIVE_INFINITY)
      ledger.violate('task failed', `${id} was cancelled by nobody`);
    return;
  }
  const result = details.result?.structuredContent;
  if (result === undefined) return ledger.violate('task failed', `${id} has no result`);
  const codes = args.askAt === 0 ? [] : Array.from({ length: args.questions }, (_, n) => `${id} ${n}`);
  if (result.id !== id || JSON.stringify(result.codes) !== JSON.stringify(codes))
    ledger.violate('answers mixed up', `${id} got ${JSON.stringify(result.codes)}`);
  for (const [step, nonce] of Object.entries(result.nonces)) {
    const last = job?.runs.get(step)?.at(-1);
    if (last?.nonce !== nonce)
      ledger.violate(
        'recorded step ran again',
        `${id} ${step} returned ${nonce}, and ${last?.nonce} ran last`,
      );
  }
}
