import type { Attributes } from '@opentelemetry/api';
import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { Link } from '../../protocol/link.js';
import type { OperationEnd } from './endings.js';

// The attributes of the conventions: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/

const MAX_NAME = 128;
const MAX_URI = 1024;
const MAX_VARIABLES = 32;
const MAX_KNOWN = 1000;

const networks: Readonly<Record<string, Attributes>> = {
  http: { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
  'http+sse': { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
  websocket: { 'network.transport': 'tcp', 'network.protocol.name': 'websocket' },
  nats: { 'network.transport': 'tcp', 'network.protocol.name': 'nats' },
  stdio: { 'network.transport': 'pipe' },
};

/** The attributes of a transport; none for one that has no network. */
export function networkOf(transport: string | undefined): Attributes {
  return transport !== undefined && Object.hasOwn(networks, transport) ? { ...networks[transport] } : {};
}

/** The transport of a call to a server. */
export function transportOf({ via, http }: Call): string | undefined {
  return via?.transport ?? (http && 'http');
}

/** The address and port of a server; none if the client is connected to anything but a URL. */
export function addressOf(target: string): Attributes {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const isTls = url?.protocol === 'https:' || url?.protocol === 'wss:';
  if (url === undefined || !(isTls || url.protocol === 'http:' || url.protocol === 'ws:')) return {};
  return {
    'server.address': url.hostname,
    'server.port': url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
  };
}

/** The tool or prompt that a call names, and the name of the attribute for it. */
export interface CallTargetName {
  readonly key: 'gen_ai.tool.name' | 'gen_ai.prompt.name';
  readonly name: string;
}

/** The tool or prompt that a call names; undefined if it names none. */
export function targetOf({ method, params }: Call): CallTargetName | undefined {
  if (method !== 'tools/call' && method !== 'prompts/get') return undefined;
  const { name } = params;
  if (typeof name !== 'string') return undefined;
  return {
    key: method === 'tools/call' ? 'gen_ai.tool.name' : 'gen_ai.prompt.name',
    name: shorten(name, MAX_NAME),
  };
}

/** The attributes of a call for metrics: of each, there are few values. */
export function operationOf({ method }: Call, target: CallTargetName | undefined): Attributes {
  const attributes: Attributes = { 'mcp.method.name': shorten(method, MAX_NAME) };
  if (target !== undefined) attributes[target.key] = target.name;
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool';
  return attributes;
}

/** The attributes of a call for its span alone. */
export function spanOnly({ method, params }: Call): Attributes {
  const { uri } = params;
  return method === 'resources/read' && typeof uri === 'string'
    ? { 'mcp.resource.uri': shorten(uri, MAX_URI) }
    : {};
}

/**
 * The attributes of a session. With a whole id, a stranger may be able to use the session, so only the end of the id is recorded,
 * which identifies the session well enough.
 */
export function sessionOf(id: string | undefined): Attributes {
  return id === undefined || id === '' ? {} : { 'mcp.session.id': id.slice(-Math.min(16, id.length >> 1)) };
}

/** The id of the session that a call belongs to, or that a client has. */
export function sessionIdOf({ via, http }: Call, link?: Link): string | undefined {
  return link === undefined ? via?.session && http?.header('mcp-session-id') : link.sessionId;
}

/** The arguments of a call, for those who ask for them. */
export function argumentsOf({ method, params }: Call, limit: number): Attributes {
  const { arguments: args } = params;
  if (args === undefined) return {};
  if (method === 'tools/call') return { 'gen_ai.tool.call.arguments': printed(args, limit) };
  if (method !== 'prompts/get' || !isObject(args)) return {};
  return Object.fromEntries(
    Object.entries(args)
      .slice(0, MAX_VARIABLES)
      .map(([name, value]) => [`gen_ai.prompt.variable.${shorten(name, MAX_NAME)}`, printed(value, limit)]),
  );
}

/** The result of a tool, for those who ask for it. */
export function resultOf({ method }: Call, outcome: Outcome, limit: number): Attributes {
  const result = outcome['structuredContent'] ?? outcome['content'];
  return method === 'tools/call' && result !== undefined
    ? { 'gen_ai.tool.call.result': printed(result, limit) }
    : {};
}

// A result that is not JSON yet may have values that cannot be printed.
function printed(value: unknown, limit: number): string {
  try {
    return shorten(value, limit);
  } catch {
    return '';
  }
}

/**
 * The names of tools, prompts and methods that calls have succeeded with. A peer can send any name, so that a name which it says is
 * unknown is recorded only if it has been known before: otherwise there could be any number of series of metrics.
 */
export class KnownNames {
  readonly #known = new Set<string>();

  /** Notes how a call has ended. Returns whether the names in it are worth recording. */
  note(call: Call, { attributes }: OperationEnd): boolean {
    const name = JSON.stringify([call.method, targetOf(call)?.name]);
    const isUnknown = UNKNOWN.includes(String(attributes['rpc.response.status_code']));
    if (!isUnknown && this.#known.size < MAX_KNOWN) this.#known.add(name);
    return !isUnknown || this.#known.has(name);
  }
}

/** The codes of errors for a method, and for a tool or prompt, that does not exist. */
const UNKNOWN: readonly string[] = ['-32601', '-32602'];
