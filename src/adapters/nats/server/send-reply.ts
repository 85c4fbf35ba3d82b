// Sends the messages of a call to the inbox of its client, in parts if they are large.

import { INVALID_REQUEST, printError, type RequestId } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { NatsClient } from '../connection/client.js';
import type { NatsHeaders } from '../connection/nats-types.js';
import { SERVICE_ERROR, SERVICE_ERROR_CODE, withKind } from '../link/frames.js';
import { splitMessage, tooLarge } from '../link/message-parts.js';

/** Sends a message. `error` is described in the headers of NATS' convention, too. */
export type SendReply = (reply: string, text: string, error?: McpError) => void;

export interface SendReplyParts {
  readonly client: NatsClient;
  readonly newHeaders: () => NatsHeaders;
  readonly maxMessageBytes: number;
  readonly onProblem: (message: string, error: unknown) => void;
}

/** Makes the function that sends messages. While the connection is lost, messages are dropped. */
export function replySender({ client, newHeaders, maxMessageBytes, onProblem }: SendReplyParts): SendReply {
  function send(reply: string, text: string, error?: McpError): void {
    if (!client.isUp) return;
    try {
      const data = new TextEncoder().encode(text);
      if (data.length > maxMessageBytes) return sendTooLarge(reply, text);
      const parts = splitMessage(data, client.maxPayload);
      for (const [at, part] of parts.entries()) {
        const headers = parts.length > 1 || error !== undefined ? newHeaders() : undefined;
        if (headers !== undefined && parts.length > 1) withKind(headers, 'part', { at, count: parts.length });
        if (headers !== undefined && error !== undefined) describeError(headers, error);
        client.nc.publish(reply, part, headers && { headers });
      }
    } catch (thrown) {
      onProblem('A message could not be sent over NATS', thrown);
    }
  }

  function sendTooLarge(reply: string, text: string): void {
    const { id, method } = JSON.parse(text) as { readonly id?: RequestId; readonly method?: string };
    const message = `It was not sent: ${tooLarge(maxMessageBytes)}`;
    if (method !== undefined) return onProblem(`A notification is too large for NATS. ${message}`, undefined);
    const error = new McpError('internal_error', `The result is too large. ${message}`);
    send(reply, printError(id, { code: INVALID_REQUEST, message: error.message }), error);
  }

  return send;
}

/** The client makes `connection_closed` of it. */
const LOST_STATUS = 502;

// A header has one line.
function describeError(headers: NatsHeaders, { code, message, status }: McpError): void {
  headers.set(SERVICE_ERROR, message.replace(/[\r\n]+/g, ' ').slice(0, 500));
  headers.set(
    SERVICE_ERROR_CODE,
    String(code === 'connection_closed' ? LOST_STATUS : status === 200 ? 500 : status),
  );
}
