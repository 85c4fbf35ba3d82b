import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ClientCapabilities, Implementation } from '../../protocol/model/model.js';
import { newestSession, sessionRevisions } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';

/** The client's part of the handshake. */
export interface Handshake {
  readonly revision: Revision;
  readonly client: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** Reads the parameters of `initialize`. For an unknown version, the session gets the newest revision that has sessions. */
export function readHandshake(params: JsonObject | undefined): Handshake {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  if (typeof protocolVersion !== 'string') {
    throw new McpError('invalid_params', 'params.protocolVersion must be a string');
  }
  return {
    revision: sessionRevisions.find((revision) => revision === protocolVersion) ?? newestSession,
    client: isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined,
    capabilities: isObject(capabilities) ? (capabilities as ClientCapabilities) : {},
  };
}
