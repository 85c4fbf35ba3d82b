import { isObject, isRequestId, type JsonObject, type RequestId } from '../jsonrpc/message.js';
import type { Peer } from './call.js';
import { shorten } from './encoding/shorten.js';
import { McpError } from './errors.js';
import type { ClientCapabilities, Implementation } from './model/model.js';
import { modernRevisions } from './tables/features.js';
import { isLogLevel } from './tables/log-level.js';
import type { Revision } from './tables/revisions.js';

// The metadata that every request carries: revision, client and capabilities; and the format of its keys. Spec 2026-07-28, Base
// Protocol, `_meta`.

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** The protocol version that a request declares; a request without one is not modern. */
export function declaredVersion(params: JsonObject | undefined): unknown {
  const meta = params?.['_meta'];
  return isObject(meta) ? meta[VERSION] : undefined;
}

/** The parameters with the metadata of a request: the inverse of `readPeer`. */
export function withPeer(params: JsonObject, peer: Peer, revision: Revision = peer.revision): JsonObject {
  const { client, capabilities, logLevel } = peer;
  return withMeta(params, (meta) => {
    meta[VERSION] = revision;
    if (client !== undefined) meta[CLIENT_INFO] = client;
    meta[CLIENT_CAPABILITIES] = capabilities;
    if (logLevel !== undefined) meta[LOG_LEVEL] = logLevel;
  });
}

/** The parameters without the client's description of itself, for a server that knows it already. */
export function withoutPeer(params: JsonObject): JsonObject {
  if (!isObject(params['_meta'])) return params;
  const sent = withMeta(params, (meta) => {
    for (const key of [VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL]) delete meta[key];
  });
  if (Object.keys(sent['_meta'] as JsonObject).length === 0) delete sent['_meta'];
  return sent;
}

/** The metadata of a client's requests as JSON, which is printed once for as long as it stays the same. */
export interface PrintedPeer {
  readonly peer: Peer;
  readonly revision: Revision;
  /** The members of `_meta`, without the braces. */
  readonly members: string;
}

/** Prints a client's metadata; returns `earlier` if nothing has changed. */
export function printPeer(peer: Peer, revision: Revision, earlier: PrintedPeer | undefined): PrintedPeer {
  if (earlier?.peer === peer && earlier.revision === revision) return earlier;
  const members = JSON.stringify(withPeer({}, peer, revision)['_meta']).slice(1, -1);
  return { peer, revision, members };
}

/** The parameters with another progress token. */
export function withToken(params: JsonObject, token: RequestId): JsonObject {
  return withMeta(params, (meta) => {
    meta['progressToken'] = token;
  });
}

// Copied key by key, because an object made by a spread is slow to make and slow to print: three times the rest of a call.
function withMeta(params: JsonObject, add: (meta: JsonObject) => void): JsonObject {
  const result = copy(params);
  const { _meta } = params;
  const meta = isObject(_meta) ? copy(_meta) : {};
  add(meta);
  result['_meta'] = meta;
  return result;
}

function copy(object: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(object)) result[key] = object[key];
  return result;
}

/** Reads the client's description of itself from the metadata of a request. */
export function readPeer(params: JsonObject | undefined): Peer {
  const meta = params?.['_meta'];
  if (!isObject(meta)) throw malformed('params._meta is missing');
  const revision = readRevision(meta[VERSION]);
  const capabilities = meta[CLIENT_CAPABILITIES];
  if (!isObject(capabilities)) throw malformed(`params._meta["${CLIENT_CAPABILITIES}"] must be an object`);
  const client = meta[CLIENT_INFO];
  if (client !== undefined && !isObject(client))
    throw malformed(`params._meta["${CLIENT_INFO}"] must be an object`);
  const logLevel = meta[LOG_LEVEL];
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    throw new McpError('invalid_params', `params._meta["${LOG_LEVEL}"] is not a log level`);
  }
  return {
    revision,
    client: client as Implementation | undefined,
    capabilities: capabilities as ClientCapabilities,
    logLevel,
  };
}

function readRevision(version: unknown): Revision {
  if (typeof version !== 'string') throw malformed(`params._meta["${VERSION}"] must be a string`);
  const revision = modernRevisions.find((candidate) => candidate === version);
  if (revision !== undefined) return revision;
  throw new McpError('unsupported_version', `Unsupported protocol version: ${shorten(version, 64)}`, {
    data: { supported: modernRevisions, requested: version.slice(0, 64) },
  });
}

/** The progress token: a string, or an integer such as 0. A token that is longer than an id may be is ignored. */
export function progressToken(params: JsonObject): string | number | undefined {
  const meta = params['_meta'];
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return isRequestId(token) ? token : undefined;
}

// Spec: a request without its required metadata is malformed; on HTTP the status is 400.
function malformed(problem: string): McpError {
  return new McpError('invalid_params', `Malformed request: ${problem}`, { status: 400 });
}

/** Names without a prefix that the protocol itself uses. */
const reservedNames = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);

/** The reason why a `_meta` key is not valid; undefined for a valid one. */
export function metaKeyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (slash !== -1 && !key.slice(0, slash).split('.').every(isLabel)) {
    return 'the part before "/" must be labels of letters, digits and hyphens, separated by dots';
  }
  if (slash === -1 && reservedNames.has(name)) return 'the protocol uses this key itself';
  if (name !== '' && !isName(name)) {
    return 'the name must begin and end with a letter or digit, with "-", "_" and "." between';
  }
  return undefined;
}

function isLabel(label: string): boolean {
  return /^[A-Za-z]$|^[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$/.test(label);
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9]$|^[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$/.test(name);
}
