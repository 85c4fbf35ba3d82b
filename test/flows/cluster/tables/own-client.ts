import type { Change, Client } from 'fullmcp/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../support/until.js';
import type { ReplicaSet } from '../replica-set.js';
import { expectTurns } from './spread.js';
import { answerTo, commissioned, freshKey, untilRecorded } from './work.js';

/** A way in which our client reaches the replicas. */
export interface Way {
  readonly name: string;
  readonly connect: (options: WayOptions) => Promise<Client>;
  /** Whether a balancer sends each request to another replica. Otherwise any of them may get it. */
  readonly isBalanced: boolean;
  /** Whether the revision has questions to the user, and tasks. */
  readonly hasElicitation: boolean;
  readonly hasTasks: boolean;
  /** Whether a call continues when its connection breaks. */
  readonly hasSessions: boolean;
}

/** The part of the options that differs between tests. */
interface WayOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** The handlers of a client that answers every question. */
export const answering = {
  elicit: async () => ({ action: 'accept' as const, content: { name: 'Ada', ok: true } }),
  sample: async () => answerTo({ method: 'sampling/createMessage' }) as never,
  roots: () => [{ uri: 'file:///work' }],
};

/** Runs the flows of our own client. */
export function ownClientTable(replicas: () => ReplicaSet, ways: readonly Way[]): void {
  describe.each(ways)('our client over $name', (way) => {
    const open: Client[] = [];

    async function connect(options: WayOptions = {}): Promise<Client> {
      const client = await way.connect(options);
      open.push(client);
      return client;
    }

    beforeEach(() => replicas().clear());

    afterEach(async () => {
      await Promise.all(open.splice(0).map((client) => client.close()));
      if (!way.isBalanced) return;
      expect(replicas().passed('work').length).toBeGreaterThan(1);
      expectTurns(replicas().passed('work'));
    });

    /** Repeats a flow until several replicas had a part in it. */
    async function spread(flow: () => Promise<void>, what: string): Promise<void> {
      for (let at = 0; at < 10; at++) {
        replicas().clear();
        await flow();
        if (replicasOf(what).size > 1) return;
      }
      throw new Error('One replica did everything.');
    }

    const replicasOf = (what: string): ReadonlySet<number> =>
      new Set(
        replicas()
          .entries(what)
          .map(({ replica }) => replica),
      );

    test('is served by every replica', async () => {
      const client = await connect();
      const served = new Set<number>();
      await until('every replica has served a call', async () => {
        served.add(((await client.callTool('where')).data as { replica: number }).replica);
        return served.size === 3;
      });
    });

    test('gets progress and log messages of calls at any replica', async () => {
      const client = await connect();
      await spread(async () => {
        for (let at = 0; at < 3; at++) {
          const progress: number[] = [];
          const onProgress = (report: { progress: number }) => void progress.push(report.progress);
          const { text } = await client.callTool('count', { to: 3 }, { onProgress });
          expect([text, progress]).toEqual(['counted to 3', [1, 2, 3]]);
        }
        const logged: unknown[] = [];
        await client.callTool('talk', {}, { onLog: ({ data }) => void logged.push(data) });
        expect(logged).toEqual(['info', 'error']);
      }, 'call');
    });

    test('answers the questions of a call, which other replicas continue', async () => {
      const client = await connect();
      if (way.hasElicitation)
        await spread(async () => {
          expect((await client.callTool('commission')).data).toEqual(commissioned);
          expect(replicas().entries('ordered')).toHaveLength(1);
          expect(replicas().entries('finished')).toHaveLength(1);
        }, 'run');
      const { text } = await client.callTool('slogan');
      expect(text).toBe('Ada adds up at file:///work');
      expect((await client.readResource('work://roots')).text).toBe('file:///work');
    });

    test('cancels a call, wherever it runs', async () => {
      const client = await connect();
      for (let at = 0; at < 3; at++) {
        replicas().clear();
        const key = freshKey();
        const controller = new AbortController();
        const onProgress = () => controller.abort();
        const call = client.callTool('long', { key }, { signal: controller.signal, onProgress });
        await expect(call).rejects.toMatchObject({ code: 'cancelled' });
        const began = await untilRecorded(replicas, 'long', { key });
        expect(await untilRecorded(replicas, 'aborted', { name: 'long' })).toBe(began);
      }
      await client.callTool('where');
    });

    test('hears of changes that any replica announces', async () => {
      const client = await connect();
      const [uri, sign] = [`work://${freshKey()}`, `work://${freshKey()}`];
      const heard: string[] = [];
      let isOpen = false;
      const onChange = (change: Change): void => {
        if (change.kind !== 'resource') heard.push(change.kind);
        else if (change.uri === sign) isOpen = true;
        else heard.push(change.uri);
      };
      const subscription = await client.subscribe(
        { uris: [uri, sign], tools: true, prompts: true, resources: true },
        { onChange },
      );
      if (way.hasSessions) {
        // A client whose stream opens after it has subscribed reports everything as changed once, before the first event of the stream.
        await until('the stream for changes is open', async () => {
          await client.callTool('touch', { uri: sign });
          return isOpen;
        });
        heard.length = 0;
      }
      await client.callTool('touch', { uri: 'work://other' });
      await client.callTool('touch', { uri });
      await client.callTool('grow');
      await until('all changes are heard', () => heard.length >= 4);
      expect(heard.sort()).toEqual(['prompts', 'resources', 'tools', uri]);
      await subscription.close();
    });

    test('repeats a call with its key at other replicas, and it happens once', async () => {
      const client = await connect({ headers: { 'x-user': 'ada' } });
      await spread(async () => {
        const key = freshKey();
        const pay = async () => (await client.callTool('pay', { to: key }, { idempotencyKey: key })).data;
        const first = await pay();
        for (let at = 0; at < 5; at++) expect(await pay()).toEqual(first);
        expect(replicas().entries('paid')).toHaveLength(1);
      }, 'call');
    });

    if (way.isBalanced && way.hasSessions)
      test('resumes a call at another replica when its connection breaks', async () => {
        const client = await connect();
        const key = freshKey();
        // A stream can be resumed after its first event.
        const reports: unknown[] = [];
        const onProgress = (report: unknown) => void reports.push(report);
        const call = client.callTool('long', { key }, { onProgress });
        const began = await untilRecorded(replicas, 'long', { key });
        await until('the call streams', () => reports.length === 1);
        const resumed = () =>
          replicas()
            .passed('work')
            .filter(({ resumes, status }) => resumes && status === 200);
        // Once more if it is the turn of the replica that has the call.
        while (!resumed().some(({ replica }) => replica !== began)) {
          const before = resumed().length;
          replicas().cut('work');
          await until('the client has resumed', () => resumed().length > before);
        }
        await client.callTool('open', { key });
        expect((await call).data).toEqual({ through: key, replica: began });
        expect(replicas().entries('long')).toHaveLength(1);
      });

    if (way.hasTasks) {
      test('starts, watches and answers a task, and gets its result', async () => {
        const client = await connect();
        await spread(async () => {
          const task = await client.startTool('assignment');
          expect(task.id).toEqual(expect.any(String));
          expect((await task.result()).data).toEqual(commissioned);
          expect((await client.task(task.id as string).status()).status).toBe('completed');
          expect(replicas().entries('ordered')).toHaveLength(1);
          expect(replicas().entries('finished')).toHaveLength(1);
        }, 'call');
      });

      test('cancels a task, which no other caller can read, answer or cancel', async () => {
        const ada = await connect({ headers: { 'x-user': 'ada' } });
        const eve = await connect({ headers: { 'x-user': 'eve' } });
        const key = freshKey();
        const task = await ada.startTool('job', { key });
        const owner = await untilRecorded(replicas, 'step', { key, step: 3 });
        const stolen = eve.task(task.id as string);
        for (let at = 0; at < 3; at++) {
          await expect(stolen.status()).rejects.toMatchObject({ code: 'invalid_params' });
          await expect(stolen.cancel()).rejects.toMatchObject({ code: 'invalid_params' });
        }
        expect((await task.status()).status).toBe('working');
        await task.cancel();
        for (let at = 0; at < 3; at++) expect((await task.status()).status).toBe('cancelled');
        expect(await untilRecorded(replicas, 'aborted', { name: 'job' })).toBe(owner);
        const steps = replicas()
          .entries('step')
          .filter((entry) => entry['key'] === key);
        expect(steps).toHaveLength(3);
      });
    }
  });
}
