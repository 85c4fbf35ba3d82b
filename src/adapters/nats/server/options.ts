// The options of serving over NATS.

import type { Authenticate } from '../../../protocol/caller.js';
import type { FilledOptions } from '../../../protocol/checks/options.js';
import type { NatsConnectionOptions } from '../connection/options.js';

/** Options of a service that do not depend on its connection. */
export interface NatsServiceOptions {
  /** The name under which clients find the server: up to 64 letters, digits, "_" and "-". Default: the name of the server. */
  readonly service?: string;
  /** The beginning of the subjects of the service. Clients need the same. Default: `mcp`. */
  readonly prefix?: string;
  /** Identifies the caller of a request. Default: all callers are anonymous; the permissions of NATS decide who may call. */
  readonly auth?: Authenticate<NatsRequestFacts>;
  /** The number of calls that this instance works on at the same time. Further ones are rejected with `overloaded`. Default: 1,000. */
  readonly maxOpenCalls?: number;
  /** The largest message that is read or sent, in bytes. Messages larger than NATS accepts travel in parts. Default: 16 MB. */
  readonly maxMessageBytes?: number;
  /**
   * The time between two signs of life of a client with open calls. Clients need the same. A client that is silent for five of
   * them is gone, and its calls are cancelled. Default: 2 s.
   */
  readonly keepAliveMs?: number;
  /** The time for open calls to finish when the service is closed. Default: 5 s. */
  readonly drainMs?: number;
}

/** Facts about the NATS message that carries a request. */
type NatsRequestFacts = {
  /** Reads a header by its name. */
  readonly header: (name: string) => string | undefined;
};

/** The options of `serveNats`. */
export interface ServeNatsOptions extends NatsConnectionOptions, NatsServiceOptions {}

/** The table of `NatsServiceOptions`. */
export const serviceTable = {
  service: 'string',
  prefix: { is: 'string', default: 'mcp' },
  auth: 'function',
  maxOpenCalls: { is: 'count', default: 1000 },
  maxMessageBytes: { is: 'count', default: 16_777_216 },
  keepAliveMs: { is: 'count', default: 2000 },
  drainMs: { is: 'timer', default: 5000 },
} as const;

/** The options of a service with their defaults. */
export type ServiceSettings = FilledOptions<NatsServiceOptions, typeof serviceTable>;
