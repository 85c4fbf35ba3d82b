import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { subscriberNetwork } from '../../protocol/checks/ip-addresses.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import { boundedKey } from '../../protocol/encoding/shorten.js';

// Groups of calls that share a limit.

/**
 * The calls that share a limit. `caller`: those of one authenticated caller, or of one address if nobody is authenticated.
 * `address`: those of one IPv4 address, or of one IPv6 network (/64), since a single client can have all addresses of it. `tool`: all
 * calls of one tool. `everyone`: all calls. A function returns a name; calls without a name are not limited.
 */
export type CallGroup = 'caller' | 'address' | 'tool' | 'everyone' | ((call: Call) => string | undefined);

/** The option of a middleware that takes a group. */
export const callGroup = { is: 'function', oneOf: ['caller', 'address', 'tool', 'everyone'] } as const;

const groups: Readonly<
  Record<Exclude<CallGroup, (call: Call) => unknown>, (call: Call) => string | undefined>
> = {
  caller: (call) => (call.auth === undefined ? addressOf(call) : `caller ${principalOf(call)}`),
  address: addressOf,
  tool: ({ method, params }) => (method === 'tools/call' ? `tool ${String(params['name'])}` : undefined),
  everyone: () => 'everyone',
};

/** The function that names the group of a call. */
export function groupNamer(by: CallGroup): (call: Call) => string | undefined {
  const namer = typeof by === 'function' ? by : groups[by];
  // Middleware remembers the names, and peers choose some of them: they send any name of a tool.
  return (call) => {
    const name = namer(call);
    return typeof name === 'string' ? groupKey(name) : name;
  };
}

/** The longest group that a digest is computed of: longer than the name of any caller, and short enough to cost nothing. */
const MAX_DIGESTED = 16 * 1024;
const KEY_START = 160;
const encoder = new TextEncoder();

/**
 * The key of a group. A caller could choose a name that has the same simple hash as the name of another caller, and would use up the
 * limit of the other one. A digest is different for each name.
 */
function groupKey(name: string): string {
  const bounded = boundedKey(name);
  if (bounded === name || name.length > MAX_DIGESTED) return bounded;
  // As JSON, halves of characters stay different. As UTF-8, they are all the same.
  return `${bounded.slice(0, KEY_START)}… ${encodeBase64Url(sha256(encoder.encode(JSON.stringify(name))))}`;
}

/** A caller without an address is the program itself, or its only peer. */
function addressOf({ http }: Call): string {
  return `address ${subscriberNetwork(http?.remoteAddress ?? '')}`;
}
