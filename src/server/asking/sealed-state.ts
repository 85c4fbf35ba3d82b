// Encrypts the state that passes through the client between two rounds.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { canonical, digestOf } from '../../protocol/canonical.js';
import { readSecrets } from '../../protocol/checks/secret.js';
import {
  deriveSealingKey,
  randomSecret,
  type SealingKey,
  sealBytes,
  unsealBytes,
} from '../../protocol/encoding/sealing.js';
import { McpError } from '../../protocol/errors.js';
import type { Store, StoreChange } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';
import { checkAnswersFit } from './size.js';

/** The caller and the call that a state belongs to. Another caller or another call cannot use the state. */
export interface Binding {
  readonly principal: string;
  readonly method: string;
  readonly name: string;
  readonly args: unknown;
}

/** The options of `createSeal`. */
export interface SealOptions {
  /** The server's name. Another server does not accept the state, even if it has the same secret. */
  readonly server: string;
  /** The first secret seals and all of them open. Put a new secret first, and remove the old one when its states have expired. */
  readonly secrets: string | readonly string[] | undefined;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Whether every state may be used only once, and not only those that say so themselves. Default: false. */
  readonly once?: boolean;
  /** The store that remembers the used states of which each may be used only once. */
  readonly usedStates: Pick<Store, 'write'>;
  /** Called when a random secret is made, because there is no other. */
  readonly onEphemeral: () => void;
  /** Called when a state was sealed with a secret that this process does not have. */
  readonly onForeign?: () => void;
  /** Called when the store could not record that a state was used. */
  readonly onUnrecorded?: (error: unknown) => void;
}

/** Seals and opens states. */
export interface Seal {
  /** The largest size of a state. */
  readonly maxBytes: number;
  /** Sets the secret, or the function that makes it when it is first used, if the options have none. States that were sealed before can still be opened. */
  readonly provide: (secret: string | readonly string[] | (() => string)) => void;
  /** The secrets that were set; undefined if there are none. */
  readonly secrets: () => readonly string[] | undefined;
  /** Seals a state. */
  readonly close: (content: JsonObject, binding: Binding) => Promise<string>;
  /** Returns the content. Throws if the state was changed, has expired or belongs to another call, or the answers are too large. */
  readonly open: (state: string, binding: Binding, answers?: object) => Promise<JsonObject>;
}

const VERSION = 'v2';
const PURPOSE = 'state';
const USED = 'used:';
const CLOCK_SKEW_MS = 300_000;
const encoder = new TextEncoder();

/** Makes the seal (AES-256-GCM). The binding is not part of the state: it is the additional authenticated data. */
export function createSeal(options: SealOptions): Seal {
  const { server, maxAgeMs, maxBytes, once, usedStates, onEphemeral, onForeign, onUnrecorded } = options;
  let secrets = options.secrets === undefined ? undefined : readSecrets(options.secrets);
  let makeSecret: (() => string) | undefined;
  let ephemeral: string | undefined;
  let keys: Promise<readonly SealingKey[]> | undefined;
  const knownSecrets = (): readonly string[] | undefined => {
    if (makeSecret !== undefined) secrets ??= readSecrets(makeSecret());
    return secrets;
  };
  const loadKeys = (): Promise<readonly SealingKey[]> => {
    if (keys === undefined && knownSecrets() === undefined) {
      onEphemeral();
      ephemeral = randomSecret();
    }
    keys ??= Promise.all(
      [...(secrets ?? []), ...(ephemeral ? [ephemeral] : [])].map((secret) =>
        deriveSealingKey(secret, PURPOSE),
      ),
    );
    return keys;
  };

  async function close(content: JsonObject, binding: Binding): Promise<string> {
    const [key] = (await loadKeys()) as [SealingKey];
    const plain = encoder.encode(JSON.stringify({ ...content, e: Date.now() + maxAgeMs }));
    if (plain.byteLength > maxBytes) {
      throw new McpError(
        'internal_error',
        `The answers and step results so far have ${plain.byteLength} bytes, more than asking.maxBytes (${maxBytes}). Return less from steps: an id instead of a document.`,
      );
    }
    return `${VERSION}.${await sealBytes(key, plain, await bindingDigest(server, binding))}`;
  }

  async function open(state: string, binding: Binding, answers: object = {}): Promise<JsonObject> {
    if (state.length > maxBytes * 2 || !state.startsWith(`${VERSION}.`)) throw rejectedState();
    const sealed = state.slice(VERSION.length + 1);
    const unsealed = await unsealBytes(await loadKeys(), sealed, await bindingDigest(server, binding));
    if (unsealed === 'foreign') onForeign?.();
    if (unsealed === undefined || unsealed === 'foreign') throw rejectedState();
    const { plain, iv } = unsealed;
    const content: unknown = JSON.parse(new TextDecoder().decode(plain));
    if (!isObject(content) || typeof content['e'] !== 'number') throw rejectedState();
    if (content['e'] <= Date.now())
      throw new McpError('invalid_params', 'params.requestState has expired: call again without it');
    // The client may retry with shorter answers, so the state does not count as used yet.
    checkAnswersFit(answers, { earlierBytes: plain.byteLength, maxBytes });
    if (once || content['o'] === 1) {
      const key = `${USED}${await callerGroup(server, binding.principal)}:${iv}`;
      // Kept longer than the state is valid, because the clock of the store may be another.
      const ttlMs = content['e'] - Date.now() + CLOCK_SKEW_MS;
      const use: StoreChange = { do: 'put', key, value: {}, if: 'absent', ttlMs };
      const { ok: isFirst } = await usedStates.write([use]).catch((error: unknown) => {
        onUnrecorded?.(error);
        throw useNotRecorded(error);
      });
      if (!isFirst) throw rejectedState();
    }
    return content;
  }

  function provide(secret: string | readonly string[] | (() => string)): void {
    if (secrets !== undefined || makeSecret !== undefined) return;
    if (typeof secret === 'function') makeSecret = secret;
    else secrets = readSecrets(secret);
    keys = undefined;
  }

  return { maxBytes, close, open, provide, secrets: knownSecrets };
}

// The same error for every reason: an attacker learns nothing from it, and a developer learns what to compare.
function rejectedState(): McpError {
  return new McpError(
    'invalid_params',
    'params.requestState was rejected. It must be returned unchanged, from the same caller, with the same method, name and arguments, to a server with the same name and secret, and only once if the server requires that. Call again without it.',
  );
}

function useNotRecorded(cause: unknown): McpError {
  return new McpError(
    'overloaded',
    'The answers were not used, because the server could not record that params.requestState is used. Retry later with the same answers and state.',
    { cause },
  );
}

function bindingDigest(
  server: string,
  { principal, method, name, args }: Binding,
): Promise<Uint8Array<ArrayBuffer>> {
  const text = JSON.stringify([VERSION, server, principal, method, name, canonical(args)]);
  return digestOf(text);
}
