import { connect } from 'fullmcp/client';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { officialAskingTests } from '../../../interop/support/asking.js';
import { rows } from '../../../interop/support/connections.js';
import { officialClientTests, type Settling } from '../../../interop/support/scenarios.js';
import { type SessionClient, sessionClient } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';
import { askingTable } from '../../../support/wires/asking-table.js';
import { modernWires, sessionWires, type Wire } from '../../../support/wires/asking-wires.js';
import type { ReplicaSet } from '../replica-set.js';
import { callerTable } from './callers.js';
import { httpSseTable } from './http-sse.js';
import { modernTable } from './modern.js';
import { answering, ownClientTable } from './own-client.js';
import { sessionTable } from './sessions.js';
import { expectSpread, expectTurns } from './spread.js';
import { taskTable } from './tasks.js';

// The flow table on three replicas behind a round-robin balancer.

/** Runs every flow over HTTP. */
export function replicaFlows(replicas: () => ReplicaSet): void {
  describe('asking', () => {
    expectSpread(replicas, 'asking', { alone: /^does not send the question/ });
    const isHttp = ({ name }: Wire): boolean => /^HTTP \d|a task/.test(name);
    const modern = modernWires.filter(isHttp);
    const sessions = sessionWires.filter(isHttp);
    const world = () => ({
      url: replicas().url('asking'),
      server: undefined as never,
      calls: () =>
        replicas()
          .entries('call')
          .filter(({ method }) => method === 'tools/call').length,
      effects: () =>
        replicas()
          .entries('asking effect')
          .map(({ effect }) => effect as string),
    });
    askingTable(world, {
      modern,
      sessions,
      few: [...modern, ...sessions].filter(({ name }) => name !== 'a task'),
    });
  });

  describe('the official clients', () => {
    beforeAll(() => replicas().clear());
    afterAll(() => {
      const passed = replicas().passed('interop');
      expect(passed.length).toBeGreaterThan(200);
      expectTurns(passed);
    });
    const overHttp = rows.filter(({ over }) => over === 'http');
    officialClientTests(overHttp, () => replicas().url('interop'), settling(replicas));
    officialAskingTests(overHttp, () => replicas().url('interop'));
  });

  modernTable(replicas);
  sessionTable(replicas);
  taskTable(replicas);
  callerTable(replicas);
  httpSseTable(replicas);
  ownClientTable(
    replicas,
    (['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const).map((revision, at) => ({
      name: `HTTP ${revision}`,
      connect: (options) => connect(replicas().url('work'), { revision, ...answering, ...options }),
      isBalanced: true,
      hasElicitation: at < 3,
      hasTasks: at < 2,
      hasSessions: at > 0,
    })),
  );
}

/** A client may go on at once, but a process that has the session in memory hears of a change over the bus, a moment later. */
function settling(replicas: () => ReplicaSet): Settling {
  const atEach = async (sessionId: string, isSettled: (client: SessionClient) => Promise<boolean>) => {
    for (let replica = 0; replica < 3; replica++) {
      const client = sessionClient(replicas().direct('interop', replica), sessionId);
      await until(`replica ${replica} knows`, () => isSettled(client));
    }
  };
  return {
    level: (sessionId, level) =>
      atEach(sessionId, async (client) => {
        const { text } = await client.request('tools/call', { name: 'chatter' }, 'settling');
        return text.includes('"quiet"') === (level === 'debug');
      }),
    end: (sessionId) => atEach(sessionId, async (client) => (await client.request('ping')).status === 404),
  };
}
