// Binds the states that servers hand out to the callers of a proxy. To the server, all of these callers are one.

import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { readSecrets } from '../../protocol/checks/secret.js';
import {
  deriveSealingKey,
  randomSecret,
  type SealingKey,
  sealBytes,
  unsealBytes,
} from '../../protocol/encoding/sealing.js';
import { McpError } from '../../protocol/errors.js';

const PREFIX = 'fullmcp-proxy-sealed.';
const PURPOSE = 'proxy state';
const MAX_SECRETS = 10;
const encoder = new TextEncoder();

/**
 * Seals states for authenticated callers, so that nobody else can continue their calls. Anonymous callers are all the same caller, so that
 * theirs stay as they are. A state can be opened by every process that has the same secret.
 */
export class StateSeal {
  #secrets: readonly string[] | undefined;
  /** The secret of this process alone, if it was needed before another one was set. */
  #ephemeral: string | undefined;
  #keys: Promise<readonly SealingKey[]> | undefined;

  /** Sets the secret. States that were sealed before can still be opened. */
  readonly provide = (secret: string | readonly string[] | (() => string)): void => {
    // The secret of this process alone is random as well.
    if (typeof secret === 'function') return;
    // Each transport may set one.
    const all = new Set([...readSecrets(secret), ...(this.#secrets ?? [])]);
    this.#secrets = [...all].slice(0, MAX_SECRETS);
    this.#keys = undefined;
  };

  /** The outcome of a call with its state sealed. */
  async close(outcome: Outcome, call: Call): Promise<Outcome> {
    const { resultType, requestState } = outcome;
    if (resultType !== 'input_required' || typeof requestState !== 'string') return outcome;
    const principal = principalOf(call);
    if (principal === '') return outcome;
    const [key] = (await this.#load()) as [SealingKey];
    const sealed = await sealBytes(key, encoder.encode(requestState), encoder.encode(principal));
    return { ...outcome, requestState: PREFIX + sealed };
  }

  /** The state of a call as its server knows it. Throws an `McpError` if it is that of another caller. */
  async open(call: Call): Promise<unknown> {
    const { requestState } = call.params;
    if (!isSealed(requestState)) return requestState;
    const sealed = requestState.slice(PREFIX.length);
    const opened = await unsealBytes(await this.#load(), sealed, encoder.encode(principalOf(call)));
    if (typeof opened === 'object') return new TextDecoder().decode(opened.plain);
    throw new McpError(
      'invalid_params',
      opened === 'foreign'
        ? 'params.requestState is of another process of this proxy, which has another secret. Set MCP_SECRET to the same value for all of them. Call again without it.'
        : 'params.requestState was rejected. It must be returned unchanged, and from the same caller. Call again without it.',
    );
  }

  #load(): Promise<readonly SealingKey[]> {
    if (this.#secrets === undefined) this.#ephemeral ??= randomSecret();
    const all = [...(this.#secrets ?? []), ...(this.#ephemeral === undefined ? [] : [this.#ephemeral])];
    this.#keys ??= Promise.all(all.map((secret) => deriveSealingKey(secret, PURPOSE)));
    return this.#keys;
  }
}

/** Whether a state is sealed for a caller. */
export function isSealed(requestState: unknown): requestState is string {
  return typeof requestState === 'string' && requestState.startsWith(PREFIX);
}
