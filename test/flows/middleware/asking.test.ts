import type { Middleware } from 'fullmcp';
import { afterEach, beforeEach } from 'vitest';
import { type Serving, serve } from '../../../src/node.js';
import { askingTable } from '../../support/wires/asking-table.js';
import { modernWires, sessionWires, type Wire } from '../../support/wires/asking-wires.js';
import { askingServer } from '../fixtures/asking-server.js';
import { allMiddleware } from './all.js';

// The table of questions once more, with every middleware on the server.

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
  ({ server, effects } = askingServer({ use: [count, ...allMiddleware()] }));
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
