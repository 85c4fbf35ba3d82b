// The parts of an exchange over NATS, and a request that is open on it.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { McpError } from '../../../protocol/errors.js';
import type { OpenServiceOptions } from '../../../protocol/services.js';
import type { OutgoingRequest } from '../../../transports/client/exchange.js';
import type { NatsClient } from '../connection/client.js';
import type { NatsHeaders } from '../connection/nats-types.js';
import type { PartReader } from '../link/message-parts.js';
import type { LinkSubjects } from '../link/subjects.js';

export interface NatsExchangeParts {
  readonly client: NatsClient;
  readonly subjects: LinkSubjects;
  readonly inbox: string;
  readonly newHeaders: () => NatsHeaders;
  /** The headers of every request, such as those that identify the caller. */
  readonly headers: OpenServiceOptions['headers'];
  readonly maxMessageBytes: number;
  readonly keepAliveMs: number;
}

/** A request that waits for its response. */
export interface OpenNatsRequest {
  readonly id: number;
  readonly request: OutgoingRequest;
  readonly reply: string;
  readonly sentAt: number;
  /** The parts that are sent when an instance has accepted the first. */
  rest: readonly Uint8Array[];
  /** The id of the instance that works on the request. */
  instance: string | undefined;
  incoming: PartReader | undefined;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: McpError) => void;
  readonly unlisten: () => void;
}
