import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { McpError } from '../../../src/protocol/errors.js';
import type { Wire } from '../../../src/transports/client/wire.js';
import { until } from '../until.js';

export interface HeardWire {
  readonly messages: string[];
  readonly problems: string[];
  readonly closed: McpError[];
  /** The next unread message, as JSON. */
  readonly next: () => Promise<Record<string, unknown>>;
  readonly end: () => Promise<McpError>;
}

export const oddServer: string = fileURLToPath(
  new URL('../../unit/transports/stdio/fixtures/odd-server.mjs', import.meta.url),
);

/** Starts a wire and records its messages. */
export function hear(wire: Wire): HeardWire {
  const messages: string[] = [];
  const problems: string[] = [];
  const closed: McpError[] = [];
  let given = 0;
  wire.start({
    message: (text) => messages.push(text),
    tooLong: (reason) => problems.push(reason),
    problem: (message) => problems.push(message),
    closed: (reason) => closed.push(reason),
  });
  return {
    messages,
    problems,
    closed,
    async next() {
      await until('a message has come', () => messages.length > given, 10_000);
      return JSON.parse(messages[given++] as string) as Record<string, unknown>;
    },
    async end() {
      await until('the wire has ended', () => closed.length > 0, 10_000);
      return closed[0] as McpError;
    },
  };
}

/** Whether a process runs. One that has ended and was not reaped by its parent does not count. */
export function isAlive(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
