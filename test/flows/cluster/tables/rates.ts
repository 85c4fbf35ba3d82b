import { connect } from 'fullmcp/client';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Reply } from '../../../support/http/http.js';
import { modern } from '../../../support/http/modern.js';
import { openSession } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';
import type { ReplicaSet } from '../replica-set.js';
import { expectTurns } from './spread.js';
import { freshKey, type Message } from './work.js';

const CALLERS = 200;
const LIMIT = 20;
const ERAS = ['2026-07-28', '2025-11-25'] as const;
type Era = (typeof ERAS)[number];

/** The calls that ran, each with the time in which it was admitted. */
interface Admitted {
  readonly from: number;
  readonly to: number;
}

/**
 * Runs the flows in which callers share a rate over all replicas. `isEngineApart`: the engine is a process of its own. Otherwise, a
 * replica that stands still may stand in a transaction, for which all others wait.
 */
export function rateTable(replicas: () => ReplicaSet, { isEngineApart = true } = {}): void {
  let calls = 0;
  beforeEach(() => replicas().clear());

  const callModern = (user: string, name: string): Promise<Reply> =>
    modern(
      replicas().url('limited'),
      'tools/call',
      { name, arguments: { n: ++calls } },
      { headers: { 'x-user': user } },
    );

  /** Sessions of one user, each of which calls with a share of the callers. */
  async function sessionCalls(user: string, name: string, count: number): Promise<readonly Promise<Reply>[]> {
    const open = () => openSession(replicas().url('limited'), '2025-11-25', {}, { 'x-user': user });
    const sessions = await Promise.all(Array.from({ length: 10 }, open));
    return Array.from({ length: count }, (_, at) => {
      const params = { name, arguments: { n: ++calls } };
      const message = { jsonrpc: '2.0', id: calls, method: 'tools/call', params };
      return sessions[at % 10]?.post(message, { 'x-user': user }) as Promise<Reply>;
    });
  }

  async function callAtOnce(eras: readonly Era[], user: string, name: string): Promise<readonly Reply[]> {
    const share = CALLERS / eras.length;
    const older = eras.includes('2025-11-25') ? await sessionCalls(user, name, share) : [];
    const newer = eras.includes('2026-07-28')
      ? Array.from({ length: share }, () => callModern(user, name))
      : [];
    return Promise.all([...newer, ...older]);
  }

  /** The calls that ran. A call is admitted after it arrived, and before its tool ran. */
  function admitted(): readonly Admitted[] {
    const arrived = new Map(
      replicas()
        .entries('arrived')
        .map(({ n, at }) => [n, at]),
    );
    return replicas()
      .entries('ran')
      .map(({ n, at }) => ({ from: arrived.get(n) as number, to: at as number }));
  }

  describe.each([{ eras: ['2026-07-28'] as const }, { eras: ['2025-11-25'] as const }, { eras: ERAS }])(
    `${CALLERS} callers of $eras at once`,
    ({ eras }) => {
      test('are admitted up to the limit, whichever replicas they reach, and the others are told when to retry', async () => {
        const replies = await callAtOnce(eras, freshKey(), 'strict');
        expect(replicas().entries('ran')).toHaveLength(LIMIT);
        const refused = replies.filter(({ text }) => text.includes('"error"'));
        expect(refused).toHaveLength(CALLERS - LIMIT);
        for (const { status, headers, text } of refused) {
          const { data } = JSON.parse(text).error;
          expect(data.status).toBe(429);
          expect(data.retryAfterMs).toBeGreaterThan(0);
          expect(data.retryAfterMs).toBeLessThanOrEqual(3_600_000 / LIMIT);
          // The replies of a session have the status 200.
          if (status !== 200)
            expect([status, headers['retry-after']]).toEqual([
              429,
              String(Math.ceil(data.retryAfterMs / 1000)),
            ]);
        }
        expectTurns(replicas().passed('limited'));
        expect(replicas().entries('log')).toEqual([]);
      });
    },
  );

  test('wave after wave of callers is never admitted faster than the rate, and as calls grow back, some are', async () => {
    const user = freshKey();
    for (let wave = 0; wave < 3; wave++)
      await Promise.all(Array.from({ length: CALLERS }, () => callModern(user, 'steady')));
    const all = admitted();
    expect(all.length).toBeGreaterThan(10);
    expect(excess(all, { burst: 10, everyMs: 20 })).toBe(0);
    expect(replicas().entries('log')).toEqual([]);
  });

  test.runIf(isEngineApart)(
    'a replica that stands still in the middle of calls admits nothing beyond the limit when it continues',
    async () => {
      const replies = callAtOnce(['2026-07-28'], freshKey(), 'strict');
      await until('the replica has calls', () =>
        replicas()
          .entries('arrived')
          .some(({ replica }) => replica === 1),
      );
      replicas().signal(1, 'SIGSTOP');
      try {
        // The calls of the other replicas are two of three.
        await until(
          'the other replicas have answered',
          () =>
            replicas()
              .passed('limited')
              .filter(({ replica, status }) => replica !== 1 && status !== undefined).length >=
            Math.floor((CALLERS * 2) / 3),
        );
      } finally {
        replicas().signal(1, 'SIGCONT');
      }
      await replies;
      expect(replicas().entries('ran')).toHaveLength(LIMIT);
    },
  );

  test.each(ERAS)(
    'our client of %s waits as long as one replica says, and the next replica admits it',
    async (revision) => {
      const user = freshKey();
      await using client = await connect(replicas().url('limited'), {
        revision,
        headers: { 'x-user': user },
      });
      await client.callTool('patient', { n: ++calls });
      replicas().clear();
      await client.callTool('patient', { n: ++calls });
      const [refusal, ...more] = replicas().entries('refused') as readonly Message[];
      expect(more).toEqual([]);
      const [first, second] = replicas().entries('arrived') as readonly Message[];
      expect(second?.['replica']).not.toBe(first?.['replica']);
      const waited = second?.['at'] - refusal?.['at'];
      // A timer may fire a fraction of a millisecond early.
      expect(waited).toBeGreaterThan(refusal?.['data'].retryAfterMs - 1);
      expect(replicas().entries('ran')).toHaveLength(1);
    },
  );
}

/**
 * The calls by which the worst time had more than the burst and the calls that grow back meanwhile; 0 if there is none. The stores
 * count whole milliseconds.
 */
function excess(
  all: readonly Admitted[],
  { burst, everyMs }: { readonly burst: number; readonly everyMs: number },
): number {
  const byEnd = [...all].sort((a, b) => a.to - b.to);
  let worst = 0;
  for (const { from } of all) {
    let inside = 0;
    for (const each of byEnd)
      if (each.from >= from) worst = Math.max(worst, ++inside - burst - (each.to - from + 1) / everyMs);
  }
  return worst;
}
