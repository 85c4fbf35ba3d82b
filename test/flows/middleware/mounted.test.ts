import { createServer, type Middleware } from 'fullmcp';
import { afterEach, beforeEach } from 'vitest';
import { type Serving, serve } from '../../../src/node.js';
import { askingTable } from '../../support/wires/asking-table.js';
import { modernWires, sessionWires, type Wire } from '../../support/wires/asking-wires.js';
import { askingServer } from '../fixtures/asking-server.js';

// The table of questions once more, with the server mounted in one that is itself mounted.

let server: ReturnType<typeof askingServer>['server'];
let effects: readonly string[];
let calls: number;
let serving: Serving;

beforeEach(async () => {
  calls = 0;
  const count: Middleware = (call, next) => {
    if (call.method === 'tools/call') calls++;
    return next(call);
  };
  const inner = askingServer({ use: [count] });
  ({ effects } = inner);
  const { info, logger } = inner.server;
  const base = { ...info, logger, secret: 'a secret of the outer server, long enough' };
  const middle = createServer({ ...base, name: 'middle', mount: { '': inner.server } });
  server = createServer({ ...base, mount: { '': middle } }) as typeof server;
  serving = await serve(server, { port: 0, signals: false });
});

afterEach(() => serving.close());

const some = (wires: readonly Wire[], ...names: readonly string[]): readonly Wire[] =>
  wires.filter(({ name }) => names.includes(name));
const modern = some(modernWires, 'HTTP 2026-07-28', 'in-process');
const sessions = some(sessionWires, 'HTTP 2025-11-25');

askingTable(() => ({ url: serving.url, server, calls: () => calls, effects: () => effects }), {
  modern,
  sessions,
  few: [...some(modern, 'HTTP 2026-07-28'), ...sessions],
});
