import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/base64.js';
import { McpError } from '../../protocol/errors.js';
import { checkSecret } from '../../protocol/secret.js';
import type { Store } from '../store.js';
import { canonical } from './canonical.js';

/** What a state belongs to: nobody else may use it, and it fits no other call. */
export interface Binding {
  readonly principal: string;
  readonly method: string;
  readonly name: string;
  readonly args: unknown;
}

export interface SealOptions {
  /** The first seals; all open. Put a new one in front and take the old one away when its states have expired. */
  readonly secrets: readonly string[] | undefined;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Where it is remembered which states were used, if each may be used once. */
  readonly used?: Pick<Store, 'add'> | undefined;
  /** Called when a state is sealed with a secret that nobody gave. */
  readonly onEphemeral: () => void;
}

export interface Seal {
  /** Gives the secret where the options have none. */
  readonly provide: (secret: string) => void;
  readonly close: (content: JsonObject, binding: Binding) => Promise<string>;
  /** The content, or an error: changed, too old, someone else's, or of another call. */
  readonly open: (state: string, binding: Binding) => Promise<JsonObject>;
}

interface Key {
  readonly id: string;
  readonly key: CryptoKey;
}

const VERSION = 'v1';
const IV_BYTES = 12;
const USED = 'used:';
const encoder = new TextEncoder();

/** Seals what travels through the client (AES-256-GCM). What is bound is not in the text: it is what the text is checked with. */
export function createSeal({ secrets: given, maxAgeMs, maxBytes, used, onEphemeral }: SealOptions): Seal {
  let secrets = given;
  let keys: Promise<readonly Key[]> | undefined;
  for (const secret of secrets ?? []) checkSecret(secret);
  const loadKeys = (): Promise<readonly Key[]> => {
    if (keys === undefined && secrets === undefined) onEphemeral();
    keys ??= Promise.all((secrets ?? [randomSecret()]).map(deriveKey));
    return keys;
  };

  async function close(content: JsonObject, binding: Binding): Promise<string> {
    const [{ id, key }] = (await loadKeys()) as [Key];
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const plain = encoder.encode(JSON.stringify({ ...content, e: Date.now() + maxAgeMs }));
    if (plain.byteLength > maxBytes) {
      throw new McpError(
        'internal_error',
        `The answers and step results so far have ${plain.byteLength} bytes, more than ${maxBytes}. Keep less in steps.`,
      );
    }
    const additionalData = await bound(binding);
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain);
    return [VERSION, id, encodeBase64Url(iv), encodeBase64Url(new Uint8Array(sealed))].join('.');
  }

  async function open(state: string, binding: Binding): Promise<JsonObject> {
    const [version, id, iv, sealed, ...rest] = state.length > maxBytes * 2 ? [] : state.split('.');
    const key = (await loadKeys()).find((known) => known.id === id)?.key;
    const ivBytes = decodeBase64Url(iv ?? '');
    const bytes = exactly(sealed ?? '');
    if (version !== VERSION || rest.length > 0 || !key || ivBytes?.byteLength !== IV_BYTES || !bytes)
      throw refused();
    const additionalData = await bound(binding);
    const plain = await crypto.subtle
      .decrypt({ name: 'AES-GCM', iv: ivBytes, additionalData }, key, bytes)
      .catch(() => {
        throw refused();
      });
    const content: unknown = JSON.parse(new TextDecoder().decode(plain));
    if (!isObject(content) || typeof content['e'] !== 'number') throw refused();
    if (content['e'] <= Date.now())
      throw new McpError('invalid_params', 'params.requestState has expired: call again without it');
    if (used !== undefined && !(await used.add(USED + iv, {}, content['e']))) throw refused();
    return content;
  }

  function provide(secret: string): void {
    if (secrets !== undefined) return;
    checkSecret(secret);
    secrets = [secret];
  }

  return { close, open, provide };
}

// One sentence for every way of being wrong: who guesses learns nothing from it.
function refused(): McpError {
  return new McpError('invalid_params', 'params.requestState is not valid for this call');
}

// The last character has bits that no byte needs: a text that differs only in those is not the one we wrote.
function exactly(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64Url(text);
  return bytes !== undefined && encodeBase64Url(bytes) === text ? bytes : undefined;
}

async function bound({ principal, method, name, args }: Binding): Promise<Uint8Array<ArrayBuffer>> {
  const text = JSON.stringify([VERSION, principal, method, name, canonical(args)]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
}

async function deriveKey(secret: string): Promise<Key> {
  const digest = async (label: string): Promise<ArrayBuffer> =>
    crypto.subtle.digest('SHA-256', encoder.encode(`fullmcp ${label} ${secret}`));
  const key = await crypto.subtle.importKey('raw', await digest('state'), 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ]);
  return { id: encodeBase64Url(new Uint8Array(await digest('state id')).subarray(0, 6)), key };
}

function randomSecret(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}
