import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type Events, send } from '../../../support/http/http.js';
import { until } from '../../../support/until.js';
import { ANSWER, askModern, type Message, NEWS, nextMessage, type OpenWork } from './open-work.js';
import type { Replicas } from './replicas.js';

// The view of clients while the engine is away, and after it is back.

const echo = { name: 'echo', arguments: { id: 'x' } };

/** Waits until both replicas tell a balancer that they are ready, or that they are not. */
export async function untilReadiness({ a, b }: OpenWork, status: 200 | 503): Promise<void> {
  await until(`both replicas reply with ${status} at /ready`, async () =>
    (await Promise.all([a.readiness(), b.readiness()])).every((each) => each === status),
  );
}

/** Checks that calls go on that do not need the engine, whatever the engine is. */
export async function checkUnaffected({ a, atA, atB, session }: OpenWork): Promise<void> {
  expect((await atA.callTool('echo', { id: 'x' })).data).toEqual({ id: 'x' });
  expect((await atB.callTool('echo', { id: 'x' })).data).toEqual({ id: 'x' });
  for (const each of [session.a, session.b, session.a, session.b])
    expect((await each.request('tools/call', echo, 'echo')).text).toContain('structuredContent');
  expect(await askModern(a)).toMatchObject({ resultType: 'input_required' });
  expect((await send(a.url.replace('/mcp', '/health'), { method: 'GET' })).status).toBe(200);
  // The subscribers of the other replica learn later that they may have missed something.
  await atB.callTool('announce', { id: 'lost' });
}

/** Checks that calls that need the store fail with an error that says so, and take no effect. */
export async function checkRejected({ b, atA, atB, session, question, job, form }: OpenWork): Promise<void> {
  const answer = { jsonrpc: '2.0', id: question.id, result: ANSWER };
  const refusals = [
    [
      atA.callTool('pay', { id: 'during' }, { idempotencyKey: 'during' }),
      'The call did not run: its idempotency key could not be recorded. Retry later.',
    ],
    [
      atA.startTool('job', { id: 'rejected' }),
      /The task could not be saved\. Try again later\.|It is unknown whether the task was created/,
    ],
    [atB.task(job.id as string).status(), 'The task could not be read. Try again later.'],
    // Middleware that looks at the task finds out first.
    [
      atB.task(form.id as string).answer({ code: ANSWER }),
      /The answers could not be saved|The task could not be read\. Try again later\./,
    ],
  ] as const;
  const replies = [
    [
      send(b.url, { method: 'GET', headers: { ...session.b.headers, accept: 'text/event-stream' } }),
      503,
      'The session cannot be looked up now. Retry later.',
    ],
    [
      session.a.request('logging/setLevel', { level: 'error' }, 'level'),
      200,
      'The change could not be stored',
    ],
    [
      session.a.request('tools/call', { name: 'ask', arguments: { id: 'y' } }, randomUUID()),
      200,
      'Retry later.',
    ],
    [session.a.post(answer), 503, 'The answer could not be stored. Send it again.'],
    [session.b.post(answer), 503, 'The answer could not be stored. Send it again.'],
  ] as const;
  await Promise.all([
    ...refusals.map(async ([call, message]) => {
      const failure = await call.then(() => undefined).catch((error: Error) => error);
      expect(failure?.message).toMatch(message);
    }),
    ...replies.map(async ([reply, status, message]) => {
      const { status: actual, text } = await reply;
      expect([actual, text]).toEqual([status, expect.stringContaining(message)]);
    }),
  ]);
}

/** Checks that everything continues by itself, and that nothing is lost or doubled. */
export async function checkRecovery(
  work: OpenWork,
  { hasGap = true }: { readonly hasGap?: boolean } = {},
): Promise<void> {
  const { b, atA, atB, session, stream, question, requestState, job, form, paid, changes } = work;
  await untilReadiness(work, 200);
  // A lost connection is a gap of the bus: everything may have changed.
  if (hasGap)
    await until('the subscriber has heard of the gap', () =>
      ['resources', 'resource'].every((kind) => changes.some((change) => change.kind === kind)),
    );
  const heard = changes.length;
  await atB.callTool('announce', { id: NEWS.slice('outage://'.length) });
  await until('the subscriber has heard of a change at the other replica', () => changes.length > heard);
  expect(changes.at(-1)).toEqual({ kind: 'resource', uri: NEWS });

  // A client sends an answer again while the server says that it cannot take it.
  const answer = () => session.b.post({ jsonrpc: '2.0', id: question.id, result: ANSWER });
  let answered = await answer();
  await until('the answer is taken', async () => {
    if (answered.status === 503) answered = await answer();
    return answered.status !== 503;
  });
  expect(answered.status).toBe(202);
  const result: Message = { id: 1, result: { structuredContent: { call: 'session', code: '42' } } };
  expect(await responseOf(stream, () => session.a.resume(question.event))).toMatchObject(result);
  expect(await responseOf(undefined, () => session.b.resume(question.event))).toMatchObject(result);
  const inputResponses = { code: ANSWER };
  expect(await askModern(b, { requestState, inputResponses })).toMatchObject({
    structuredContent: { call: 'modern', code: '42' },
  });
  expect((await atB.task(form.id as string).result()).data).toEqual({ form: 'form', code: '42' });

  const again = await atB.callTool('pay', { id: 'before' }, { idempotencyKey: 'before' });
  expect(again.data).toEqual(paid);
  const late = await atB.callTool('pay', { id: 'during' }, { idempotencyKey: 'during' });
  expect((await atA.callTool('pay', { id: 'during' }, { idempotencyKey: 'during' })).data).toEqual(late.data);
  checkEffects(work, (await job.result()).data);
}

/**
 * The response of a stream. A replica may end a stream whose log it cannot follow, or whose call another replica has, as often as that
 * happens. A client then resumes it.
 */
async function responseOf(first: Events | undefined, resume: () => Promise<Events>): Promise<Message> {
  for (let stream = first ?? (await resume()); ; stream = await resume()) {
    const next = await nextMessage(stream).catch(() => undefined);
    if (next !== undefined) return next.message;
  }
}

/** Compares the results with the effects that happened. */
function checkEffects({ replicas }: OpenWork, result: unknown): void {
  const effects = replicas.effects();
  for (const payment of ['before', 'during'])
    expect(effects.filter((effect) => effect.payment === payment)).toHaveLength(1);
  // A task that was rejected does not exist.
  expect(effects.filter((effect) => effect.job === 'rejected')).toEqual([]);
  checkSteps(replicas, 'job', result);
}

/** Compares the result of a job with the steps that ran. */
export function checkSteps(replicas: Replicas, name: string, result: unknown): void {
  const { nonces } = result as { readonly nonces: readonly string[] };
  const effects = replicas.effects();
  const runs = nonces.map((_, at) => effects.filter(({ job, step }) => job === name && step === at + 1));
  // A step may run again if it was not recorded. So the run that was recorded is the last one, and all have the same key.
  expect(runs.map((each) => each.at(-1)?.nonce)).toEqual(nonces);
  expect(runs.map((each) => new Set(each.map(({ key }) => key)).size)).toEqual([1, 1, 1]);
  // The first step was recorded before the trouble began.
  expect(runs[0]).toHaveLength(1);
}
