import type { JsonObject } from '../../jsonrpc/message.js';
import type { Dispatch, Outcome, Peer } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import { checkOptions, type KeysOf } from '../../protocol/known-keys.js';
import { Lifetime, withSignal } from '../../protocol/lifetime.js';
import type { LogLevel } from '../../protocol/log-level.js';
import type { ClientCapabilities, Implementation } from '../../protocol/model.js';
import { newestRevision } from '../../protocol/revisions.js';

export interface InProcessOptions {
  readonly client?: Implementation;
  readonly capabilities?: ClientCapabilities;
  readonly logLevel?: LogLevel;
  /** Who calls: `subject` alone is enough. */
  readonly auth?: AuthInit;
}

const optionKeys = {
  client: true,
  capabilities: true,
  logLevel: true,
  auth: true,
} satisfies KeysOf<InProcessOptions>;

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Hears what is said before the answer: progress, log messages, changes. */
  readonly onNotification?: (method: string, params: JsonObject | undefined) => void;
}

/** Asks a server in the same process. No JSON, no ids, no queue: a function call. */
export type InProcess = (method: string, params?: JsonObject, options?: RequestOptions) => Promise<Outcome>;

export function inProcess(
  { dispatch }: { readonly dispatch: Dispatch },
  options: InProcessOptions = {},
): InProcess {
  checkOptions('inProcess', options, optionKeys);
  const { client, capabilities = {}, logLevel } = options;
  const auth = toAuth(options.auth);
  const peer: Peer = { revision: newestRevision, client, capabilities, logLevel };
  let last = 0;
  return function request(method, params = {}, { signal, onNotification } = {}) {
    const lifetime = signal === undefined ? new Lifetime() : { signal };
    const notify = onNotification ?? ignore;
    return dispatch(withSignal({ id: ++last, method, params, peer, auth, notify }, lifetime));
  };
}

function ignore(): void {
  // Nobody listens.
}
