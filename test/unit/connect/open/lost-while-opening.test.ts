import { expect, test } from 'vitest';
import { overWire } from '../../../../src/connect/open/wire.js';
import { McpError } from '../../../../src/protocol/errors.js';
import type { Wire, WireEvents } from '../../../../src/transports/client/wire.js';

const answers = {
  '2026-07-28': { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} },
  '2025-11-25': {
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 'short-lived', version: '1' },
  },
} as const;

/** Answers the first request, and disconnects some microtasks later. */
function shortLived(answer: object, steps: number): Wire {
  let events: WireEvents | undefined;
  return {
    start(listener) {
      events = listener;
    },
    send(text) {
      const { id } = JSON.parse(text) as { id?: number };
      if (id === undefined) return;
      events?.message(JSON.stringify({ jsonrpc: '2.0', id, result: answer }));
      void later();
    },
    close: async () => undefined,
  };

  async function later(): Promise<void> {
    for (let step = 0; step < steps; step++) await undefined;
    events?.closed(new McpError('connection_closed', 'It is gone'));
  }
}

test.each(Object.keys(answers) as (keyof typeof answers)[])(
  'a connection that ends while it is opened (%s) is reported, at whichever microtask it ends',
  async (revision) => {
    const silent: number[] = [];
    for (let steps = 0; steps < 40; steps++) {
      const lost: McpError[] = [];
      const open = overWire(() => shortLived(answers[revision], steps), {
        target: 'a server',
        transport: 'stdio',
        probeTimeoutMs: 1000,
      });
      const outcome = await open(
        {
          notification: () => undefined,
          problem: () => undefined,
          ask: async () => ({}),
          lost: (reason) => void lost.push(reason),
        },
        {
          signal: new AbortController().signal,
          client: { client: undefined, capabilities: {} },
          revision,
        },
      ).catch((error: unknown) => error);
      await new Promise((resolve) => setImmediate(resolve));
      const reason = McpError.is(outcome) ? outcome : lost[0];
      if (reason?.message !== 'It is gone') silent.push(steps);
    }
    expect(silent).toEqual([]);
  },
);

/** Answers nothing before the handshake, then everything, and disconnects some microtasks after the answer to `last`. */
function slowAndShortLived(last: string, steps: number): Wire {
  let events: WireEvents | undefined;
  const waiting: { id: number; method: string }[] = [];
  return {
    start(listener) {
      events = listener;
    },
    send(text) {
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      if (id === undefined) return;
      waiting.push({ id, method });
      if (method === 'server/discover' && id === 1) return;
      for (const one of waiting.splice(0)) {
        const result = one.method === 'initialize' ? answers['2025-11-25'] : answers['2026-07-28'];
        events?.message(JSON.stringify({ jsonrpc: '2.0', id: one.id, result }));
      }
      if (method === last) void later();
    },
    close: async () => undefined,
  };

  async function later(): Promise<void> {
    for (let step = 0; step < steps; step++) await undefined;
    events?.closed(new McpError('connection_closed', 'It is gone'));
  }
}

test.each(['initialize', 'server/discover'])(
  'a connection that ends after its slow answer to %s is reported, at whichever microtask it ends',
  async (last) => {
    const silent: number[] = [];
    for (let steps = 0; steps < 40; steps++) {
      const lost: McpError[] = [];
      let starts = 0;
      const open = overWire(
        () => {
          starts++;
          return slowAndShortLived(last, steps);
        },
        { target: 'a server', transport: 'websocket', probeTimeoutMs: 1 },
      );
      const giveUp = new AbortController();
      const outcome = await open(
        {
          notification: () => undefined,
          problem: () => undefined,
          ask: async () => ({}),
          lost: (reason) => void lost.push(reason),
        },
        { signal: giveUp.signal, client: { client: undefined, capabilities: {} } },
      ).catch((error: unknown) => error);
      await new Promise((resolve) => setImmediate(resolve));
      const reason = McpError.is(outcome) ? outcome : lost[0];
      if (reason?.message !== 'It is gone' && starts === 1) silent.push(steps);
    }
    expect(silent).toEqual([]);
  },
);
