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

// The client's side of the handshake that opens a session.

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
    // A server may answer with an error that lists its versions (spec 2025-11-25, Lifecycle, Error Handling).
    const other = sessionRevisions.find((candidate) => supportedVersions(error.data).includes(candidate));
    if (other !== undefined && other !== revision)
      return initialize(exchange, { ...options, revision: other });
    const { code, message, data, number } = error;
    throw new McpError(code, `The server rejected the handshake: ${message}`, {
      data,
      cause: error,
      ...(number !== undefined && { number }),
    });
  }
}

/** Whether an error is the server's response. Otherwise there was no response, and the error says why. */
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
  const { tasks, ...core } = isObject(capabilities) ? capabilities : {};
  const hasTasks = has(revision, 'coreTasks') && callsToolsAsTasks(tasks);
  const { extensions } = core;
  return {
    revision,
    tasks: hasTasks,
    discovered: {
      supportedVersions: [revision],
      capabilities: hasTasks
        ? { ...core, extensions: { ...(isObject(extensions) && extensions), [TASKS]: {} } }
        : core,
      ...(typeof instructions === 'string' && { instructions }),
      ...(isObject(serverInfo) && { _meta: { [SERVER_INFO]: serverInfo } }),
    } as Discovered,
  };
}

function unknownVersion(version: unknown): McpError {
  return new McpError(
    'unsupported_version',
    `The server answered with protocol version ${shorten(version, 64)}. This client supports sessions of ${sessionRevisions.join(', ')}.`,
    { data: { supported: sessionRevisions, requested: version } },
  );
}

function callsToolsAsTasks(tasks: unknown): boolean {
  const requests = isObject(tasks) ? tasks['requests'] : undefined;
  const tools = isObject(requests) ? requests['tools'] : undefined;
  return isObject(tools) && isObject(tools['call']);
}

// The tasks extension is left out: to call a tool as a task, the client needs only the server's capability, and this client runs
// no tasks for servers.
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

// Before 2025-11-25 the capability has no modes: it always means forms.
function olderElicitation(
  elicitation: NonNullable<ClientCapabilities['elicitation']>,
  revision: Revision,
): JsonObject {
  if (has(revision, 'urlElicitation')) return { elicitation };
  return elicitation.form !== undefined || elicitation.url === undefined ? { elicitation: {} } : {};
}
