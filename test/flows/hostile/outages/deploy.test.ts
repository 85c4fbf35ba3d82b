import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Change, type Client, connect } from 'fullmcp/client';
import { describe, expect, test } from 'vitest';
import { openSession, type SessionClient } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';
import { type Balancer, startBalancer } from './balancer.js';
import { checkSteps } from './checks.js';
import { engines } from './engines.js';
import { ANSWER, askModern, nextMessage } from './open-work.js';
import { type Replica, Replicas } from './replicas.js';

// Replicas behind a balancer without stickiness, replaced one after the other by those of another release, with another secret.

const OLD = 'the old secret of this test: 32 characters';
const NEW = 'the new secret of this test: 32 characters';

/** Three replicas and their balancer. */
class Deployment implements AsyncDisposable {
  readonly replicas: Replicas;
  balancer!: Balancer;
  #running: readonly Replica[] = [];

  constructor(url: string) {
    this.replicas = new Replicas('fixtures/release.mjs', { MCP_CLUSTER_URL: url });
  }

  async start(env: Readonly<Record<string, string>>): Promise<void> {
    this.#running = await Promise.all([1, 2, 3].map(() => this.replicas.start(env)));
    this.balancer = await startBalancer(() => this.#running);
  }

  /** Replaces the replicas one after the other. */
  async deploy(
    env: Readonly<Record<string, string>>,
    onEach: (done: number) => void = () => undefined,
  ): Promise<void> {
    for (let done = 1; done <= 3; done++) {
      const next = await this.replicas.start(env);
      const [oldest, ...others] = this.#running as [Replica, ...Replica[]];
      this.#running = [...others, next];
      await oldest.end();
      onEach(done);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.balancer?.close();
    await this.replicas.close();
  }
}

/** A client that calls again and again until it is stopped, and hears of changes of the list of tools. */
async function busyClient(url: string, revision: '2025-11-25' | undefined) {
  const client: Client = await connect(url, { elicit: () => ANSWER, ...(revision && { revision }) });
  const changes: Change[] = [];
  await client.subscribe({ tools: true }, { onChange: (change) => changes.push(change) });
  const failures: unknown[] = [];
  let isStopped = false;
  const calling = (async () => {
    for (let turn = 0; !isStopped; turn++) {
      const id = `${turn}`;
      const result = await client.callTool('echo', { id }).catch((error: unknown) => error);
      const { data } = result as { data?: unknown };
      if ((data as { id?: string } | undefined)?.id !== id) failures.push(result);
      await client.tools().all();
      await delay(10);
    }
  })();
  return {
    client,
    changes,
    failures,
    async stop() {
      isStopped = true;
      await calling;
      await client.close();
    },
  };
}

/** Opens a question of a session, and one of a call of 2026-07-28. */
async function openQuestions(url: string) {
  const session = await openSession(url, '2025-11-25', { elicitation: {} });
  const stream = await session.stream('tools/call', { name: 'ask', arguments: { id: 'session' } });
  const { message, event } = await nextMessage(stream);
  const { requestState } = await askModern({ url });
  return { session, question: message['id'], event: event as string, requestState };
}

/** Answers both questions, at whatever replica. */
async function answerQuestions(
  url: string,
  { session, question, event, requestState }: Awaited<ReturnType<typeof openQuestions>>,
): Promise<void> {
  expect((await session.post({ jsonrpc: '2.0', id: question, result: ANSWER })).status).toBe(202);
  expect((await nextMessage(await session.resume(event))).message).toMatchObject({
    id: 1,
    result: { structuredContent: { call: 'session', code: '42' } },
  });
  expect(await askModern({ url }, { requestState, inputResponses: { code: ANSWER } })).toMatchObject({
    structuredContent: { call: 'modern', code: '42' },
  });
}

async function statusOf(session: SessionClient): Promise<number> {
  return (await session.request('ping')).status;
}

describe.each(engines.filter(({ isStore }) => isStore))('a rolling deploy on $name', ({ start }) => {
  test('with another secret and changed tools loses no session, no question and no task', async () => {
    const engine = await start();
    try {
      await using deployment = new Deployment(engine.urlAt(engine.port));
      await deployment.start({ RELEASE: 'old', MCP_SECRET: OLD });
      const { balancer, replicas } = deployment;
      const { url } = balancer;
      const clients = [await busyClient(url, undefined), await busyClient(url, '2025-11-25')];
      const [{ client }] = clients as [(typeof clients)[number]];
      for (const gate of [replicas.gate, `${replicas.gate}-removed`]) writeFileSync(gate, '');
      const job = await client.startTool('job', { id: 'job' });
      const removed = await client.startTool('removed', { id: 'removed' });
      await until('both tasks are in their second step', () => replicas.effects().length === 4);
      const form = await client.startTool('form', { id: 'form' });
      const questions = [await openQuestions(url), await openQuestions(url)] as const;

      // All replicas know the new secret before the first one uses it.
      await deployment.deploy({ RELEASE: 'new', MCP_SECRET: `${OLD},${NEW}` }, (done) => {
        if (done === 2) rmSync(replicas.gate);
      });
      for (const { client: each, changes } of clients) {
        await until('the client has heard that the tools have changed, and has the new list', async () => {
          const names = (await each.tools().all()).map(({ name }) => name);
          return changes.length > 0 && names.includes('added') && !names.includes('removed');
        });
      }
      await answerQuestions(url, questions[0]);
      checkSteps(replicas, 'job', (await job.result()).data);
      // No replica has the tool any more. The task is kept for one that has, and fails after five attempts.
      expect(['working', 'failed']).toContain((await removed.status()).status);

      await deployment.deploy({ RELEASE: 'new', MCP_SECRET: `${NEW},${OLD}` });
      await answerQuestions(url, questions[1]);
      expect((await client.task(form.id as string).result()).data).toEqual({ form: 'form', code: '42' });
      const later = await openQuestions(url);

      await deployment.deploy({ RELEASE: 'new', MCP_SECRET: NEW });
      await answerQuestions(url, later);
      expect(await statusOf(later.session)).toBe(200);
      // That is why the old secret stays until its sessions have expired.
      expect(await statusOf(questions[0].session)).toBe(404);
      for (const { stop } of clients) await stop();
      expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
    } finally {
      await engine.remove();
    }
  }, 180_000);
});
