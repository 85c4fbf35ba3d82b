import { Lifetime, withSignal } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Dispatch, Outcome, Peer } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { ClientCapabilities, Implementation } from '../../protocol/model/model.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { detach } from './detach.js';

/** The options of `inProcess`. */
export interface InProcessOptions {
  /** The name and version that the server sees. Default: none. */
  readonly client?: Implementation;
  /** The capabilities that the server sees. Default: none. */
  readonly capabilities?: ClientCapabilities;
  /** The least severe level of the log messages that are sent. Default: none are sent. */
  readonly logLevel?: LogLevel;
  /** The caller: `subject` alone is enough. Default: an anonymous one. */
  readonly caller?: AuthInit;
}

const optionTable = {
  client: 'object',
  capabilities: 'object',
  logLevel: 'string',
  caller: 'any',
} as const satisfies OptionTable<InProcessOptions>;

/** The options of one request. */
type RequestOptions = {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Receives the notifications that precede the response: progress, log messages, changes. */
  readonly onNotification?: (method: string, params: JsonObject | undefined) => void;
};

/** Sends a request to a server in the same process and returns the outcome. */
export type InProcess = (method: string, params?: JsonObject, options?: RequestOptions) => Promise<Outcome>;

/** Makes a function that sends requests to a server in the same process, without a client or a transport. */
export function inProcess(
  { dispatch }: { readonly dispatch: Dispatch },
  options: InProcessOptions = {},
): InProcess {
  const { client, capabilities = {}, logLevel, caller } = readOptions('inProcess', options, optionTable);
  const auth = toAuth(caller, 'caller');
  const peer: Peer = { revision: newestRevision, client, capabilities, logLevel };
  let last = 0;
  return async function request(method, params = {}, { signal, onNotification } = {}) {
    const lifetime = signal === undefined ? new Lifetime() : { signal };
    const notify = onNotification ?? ignore;
    const call = { id: ++last, method, params, peer, auth, isLocal: true, notify };
    return detach(await dispatch(withSignal(call, lifetime)));
  };
}

function ignore(): void {
  // Notifications are dropped.
}
