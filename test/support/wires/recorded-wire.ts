import { fileURLToPath } from 'node:url';
import type { McpError } from '../../../src/protocol/errors.js';
import type { Wire } from '../../../src/transports/client/wire.js';
import { until } from '../until.js';

export interface RecordedWire {
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
export function recordWire(wire: Wire): RecordedWire {
  const messages: string[] = [];
  const problems: string[] = [];
  const closed: McpError[] = [];
  let position = 0;
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
      await until('a message has arrived', () => messages.length > position);
      return JSON.parse(messages[position++] as string) as Record<string, unknown>;
    },
    async end() {
      await until('the wire has ended', () => closed.length > 0);
      return closed[0] as McpError;
    },
  };
}
