import { type Client, connect } from 'fullmcp/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectTo, rows } from '../../../interop/support/connections.js';
import type { ReplicaSet } from '../replica-set.js';
import { answerTo, commissioned, freshKey, type Message, untilRecorded } from './work.js';

// Calls that ask, whose replica is killed at the worst moment.

/** A client that answers questions. */
interface Asked {
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<Message>;
  readonly close: () => Promise<void>;
}

type Answering = (question: Message) => Promise<Message>;

const official = rows
  .filter(({ over, who }) => over === 'http' && who !== 'v2 auto')
  .map((row) => ({
    name: `client ${row.who}`,
    hasSessions: !row.modern,
    open: async (url: string, answering: Answering): Promise<Asked> => {
      const { call, close } = await connectTo(url, row, answering);
      return { call, close };
    },
  }));

const own = {
  name: 'our client of 2025-11-25',
  hasSessions: true,
  open: async (url: string, answering: Answering): Promise<Asked> => {
    const client: Client = await connect(url, {
      revision: '2025-11-25',
      elicit: ({ message, schema }) =>
        answering({ method: 'elicitation/create', params: { message, requestedSchema: schema } }) as never,
      sample: () => answering({ method: 'sampling/createMessage' }) as never,
      roots: () => [{ uri: 'file:///work' }],
    });
    return { call: (name, args = {}) => client.callTool(name, args), close: () => client.close() };
  },
};

/** Kills the replica that has asked, before the answer, and the one that runs the step after it. */
export function killedTable(replicas: () => ReplicaSet): void {
  describe.each([...official, own])('$name', ({ open, hasSessions }) => {
    const killed = new Set<number>();

    beforeEach(() => replicas().clear());
    afterEach(async () => {
      for (const replica of killed) await replicas().replace(replica);
      killed.clear();
    });

    async function kill(replica: number): Promise<void> {
      killed.add(replica);
      await replicas().kill(replica);
    }

    const lastRun = (): number => replicas().entries('run').at(-1)?.replica as number;

    test.each([
      ['first', 'Name?'],
      ['last', 'Sure, Ada?'],
    ])(
      'gets the result of a call whose replica is killed while the user thinks about the %s question',
      async (_, message) => {
        const asked: string[] = [];
        const client = await open(replicas().url('work'), async (question) => {
          const text = question['params']?.message;
          asked.push(text ?? question['method']);
          if (text === message) await kill(lastRun());
          return answerTo(question);
        });
        try {
          const { content } = await client.call('commission');
          expect(JSON.parse(content[0].text)).toEqual(commissioned);
          expect(killed.size).toBe(1);
          expect(replicas().entries('ordered')).toHaveLength(1);
          expect(replicas().entries('finished')).toHaveLength(1);
          expect(asked.filter((text) => text === message)).toEqual([message]);
        } finally {
          await client.close();
        }
      },
    );

    test('gets an error, and nothing runs twice, if the replica that continues the call is killed in the middle of a step', async () => {
      const key = freshKey();
      const client = await open(replicas().url('work'), async (question) => answerTo(question));
      try {
        const outcome = client.call('deliver', { key }).then(
          (result) => ({ result }),
          (error: Error) => ({ error }),
        );
        await kill(await untilRecorded(replicas, 'delivered', { key }));
        const { error } = (await outcome) as { error: Error };
        expect(error.message).toContain(hasSessions ? 'unknown what the call has done' : '');
        expect(replicas().entries('delivered')).toHaveLength(1);
      } finally {
        await client.close();
      }
    });
  });
}
