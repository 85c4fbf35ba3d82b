import type { Middleware, Server } from 'fullmcp';
import { afterEach, beforeEach, describe } from 'vitest';
import { gateway } from '../../../src/gateway.js';
import { type Serving, serve } from '../../../src/node.js';
import { type ProxyServer, proxy } from '../../../src/proxy.js';
import { unprefixed } from '../../fixtures/unprefixed.js';
import { askingTable } from '../../support/wires/asking-table.js';
import { modernWires, sessionWires, type Wire } from '../../support/wires/asking-wires.js';
import { askingServer } from '../fixtures/asking-server.js';

// The table of questions once more, through a proxy and through a gateway, with a server of either era behind it.

const some = (wires: readonly Wire[], ...names: readonly string[]): readonly Wire[] =>
  wires.filter(({ name }) => names.includes(name));

describe.each([
  ['proxy', 'a modern server', '2026-07-28'],
  ['proxy', 'a server of the session era', '2025-11-25'],
  ['gateway', 'a modern server', '2026-07-28'],
  ['gateway', 'a server of the session era', '2025-11-25'],
] as const)('through a %s, %s', (kind, _name, revision) => {
  let effects: readonly string[];
  let calls: number;
  let behind: Serving;
  let between: ProxyServer;
  let serving: Serving;

  beforeEach(async () => {
    calls = 0;
    const count: Middleware = (call, next) => {
      if (call.method === 'tools/call') calls++;
      return next(call);
    };
    const inner = askingServer({ use: [count] });
    ({ effects } = inner);
    behind = await serve(inner.server, { port: 0, signals: false });
    const options = { revision, logger: inner.server.logger };
    between =
      kind === 'proxy'
        ? proxy(behind.url, options)
        : gateway(
            { mcpServers: { behind: { url: behind.url } } },
            { ...options, use: [unprefixed('behind')] },
          );
    serving = await serve(between, { port: 0, signals: false });
  });

  afterEach(async () => {
    await serving.close();
    await between.close();
    await behind.close();
  });

  const modern = some(modernWires, 'HTTP 2026-07-28', 'in-process');
  const sessions = some(sessionWires, 'HTTP 2025-11-25', 'WebSocket 2025-11-25');
  askingTable(
    () => ({
      ...{ url: serving.url, server: between as unknown as Server },
      ...{ calls: () => calls, effects: () => effects },
    }),
    {
      ...{ modern, sessions, isOlder: revision === '2025-11-25', hasHandler: revision === '2025-11-25' },
      few: [...some(modern, 'HTTP 2026-07-28'), ...some(sessions, 'HTTP 2025-11-25')],
    },
  );
});
