import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenOptions } from '../../protocol/link.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { ClientCapabilities, Discovered } from '../../protocol/model/model.js';
import { has, sessionRevisions } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { TASKS } from '../../protocol/tasks.js';
import type { Exchange } from '../../transports/client/exchange.js';

/** The result of the handshake, in the terms of the newest revision. */
export interface HandshakeResult {
  readonly revision: Revision;
  readonly discovered: Discovered;
  /** Whether tools can be called as tasks of 2025-11-25. */
  readonly tasks: boolean;
}

export interface HandshakeOptions extends OpenOptions {
  /** The revision to ask for. The server may answer with another. */
  readonly revision: Revision;
}

/** Opens a session: `initialize`, its response, `notifications/initialized`. */
export async function handshake(exchange: Exchange, options: HandshakeOptions): Promise<HandshakeResult> {
  const result = readResult(await initialize(exchange, options));
  exchange.notify('notifications/initialized');
  return result;
}

async function initialize(exchange: Exchange, options: HandshakeOptions): Promise<JsonObject> {
  const { signal, revision, client } = options;
  const params = {
    protocolVersion: revision,
    capabilities: olderCapabilities(client.capabilities, revision),
    clientInfo: client.client ?? { name: 'fullmcp', version: '0' },
  };
  try {
    return await exchange.request({ method: 'initialize', params, signal });
  } catch (error) {
    if (!isErrorResponse(error)) throw error;
    // Instead of answering with a version that it has, a server may refuse and list those (2025-11-25, Lifecycle, Error Handling).
    const other = sessionRevisions.find((candidate) => supportedVersions(error.data).includes(candidate));
    if (other !== undefined && other !== revision)
      return initialize(exchange, { ...options, revision: other });
    const { code, message, data, number } = error;
    throw new McpError(code, `The server refused the handshake: ${message}`, {
      data,
      cause: error,
      ...(number !== undefined && { number }),
    });
  }
}

/** Whether an error is a response of the server, and not the reason for a missing one. */
export function isErrorResponse(error: unknown): error is McpError {
  return McpError.is(error) && error.number !== undefined;
}

function supportedVersions(data: unknown): readonly unknown[] {
  return isObject(data) && Array.isArray(data['supported']) ? data['supported'] : [];
}

function readResult({
  protocolVersion,
  capabilities,
  serverInfo,
  instructions,
}: JsonObject): HandshakeResult {
  const revision = sessionRevisions.find((candidate) => candidate === protocolVersion);
  if (revision === undefined) throw unknownVersion(protocolVersion);
  const { tasks, ...declared } = isObject(capabilities) ? capabilities : {};
  const withTasks = has(revision, 'coreTasks') && callsToolsAsTasks(tasks);
  const { extensions } = declared;
  return {
    revision,
    tasks: withTasks,
    discovered: {
      supportedVersions: [revision],
      capabilities: withTasks
        ? { ...declared, extensions: { ...(isObject(extensions) && extensions), [TASKS]: {} } }
        : declared,
      ...(typeof instructions === 'string' && { instructions }),
      ...(isObject(serverInfo) && { _meta: { [SERVER_INFO]: serverInfo } }),
    } as Discovered,
  };
}

function unknownVersion(version: unknown): McpError {
  const offered = typeof version === 'string' ? shorten(version, 64) : 'none that could be read';
  return new McpError(
    'unsupported_version',
    `The server wants to speak protocol version ${offered}; this client opens sessions of ${sessionRevisions.join(', ')}`,
    { data: { supported: sessionRevisions, requested: version } },
  );
}

function callsToolsAsTasks(tasks: unknown): boolean {
  const requests = isObject(tasks) ? tasks['requests'] : undefined;
  const tools = isObject(requests) ? requests['tools'] : undefined;
  return isObject(tools) && isObject(tools['call']);
}

// The tasks extension is left out: calling a tool as a task needs only the server's capability, and this client serves no
// tasks.
function olderCapabilities(capabilities: ClientCapabilities, revision: Revision): JsonObject {
  const { roots, elicitation, extensions, ...rest } = capabilities;
  const { [TASKS]: _, ...others } = extensions ?? {};
  return {
    ...rest,
    ...(roots && { roots: { ...roots, listChanged: true } }),
    ...(elicitation && olderElicitation(elicitation, revision)),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  };
}

// Before 2025-11-25 there were only forms, and no name for them.
function olderElicitation(
  elicitation: NonNullable<ClientCapabilities['elicitation']>,
  revision: Revision,
): JsonObject {
  if (has(revision, 'urlElicitation')) return { elicitation };
  return elicitation.form !== undefined || elicitation.url === undefined ? { elicitation: {} } : {};
}
