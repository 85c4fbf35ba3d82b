import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { checkSecret } from '../../protocol/checks/secret.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import { canonical } from '../state/canonical.js';
import type { Store } from '../state/store.js';
import { callerPart } from '../state/store-shares.js';
import { checkAnswersFit } from './size.js';

/** What a state belongs to: nobody else may use it, and it fits no other call. */
export interface Binding {
  readonly principal: string;
  readonly method: string;
  readonly name: string;
  readonly args: unknown;
}

export interface SealOptions {
  /** The server's name: a state of one server is not one of another, also where both have one secret. */
  readonly server: string;
  /** The first seals; all open. Put a new one in front and take the old one away when its states have expired. */
  readonly secrets: readonly string[] | undefined;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Where it is remembered which states were used, if each may be used once. */
  readonly usedStates?: Pick<Store, 'add'> | undefined;
  /** Called when a state is sealed with a secret that nobody gave. */
  readonly onEphemeral: () => void;
  /** Called when it could not be remembered that a state was used. */
  readonly onUnrecorded?: (error: unknown) => void;
}

export interface Seal {
  /** What a state may hold. */
  readonly maxBytes: number;
  /** Gives the secret where the options have none. What was sealed before still opens. */
  readonly provide: (secret: string) => void;
  readonly close: (content: JsonObject, binding: Binding) => Promise<string>;
  /** The content, or an error: changed, too old, someone else's, of another call, or without room for the answers to it. */
  readonly open: (state: string, binding: Binding, answers?: object) => Promise<JsonObject>;
}

interface Key {
  readonly id: string;
  readonly key: CryptoKey;
}

const VERSION = 'v2';
const IV_BYTES = 12;
const USED = 'used:';
const encoder = new TextEncoder();

/** Seals what travels through the client (AES-256-GCM). What is bound is not in the text: it is what the text is checked with. */
export function createSeal(options: SealOptions): Seal {
  const { server, maxAgeMs, maxBytes, usedStates: used, onEphemeral, onUnrecorded } = options;
  check(options);
  let secrets = options.secrets;
  let ephemeral: string | undefined;
  let keys: Promise<readonly Key[]> | undefined;
  const loadKeys = (): Promise<readonly Key[]> => {
    if (keys === undefined && secrets === undefined) {
      onEphemeral();
      ephemeral = randomSecret();
    }
    keys ??= Promise.all([...(secrets ?? []), ...(ephemeral ? [ephemeral] : [])].map(deriveKey));
    return keys;
  };

  async function close(content: JsonObject, binding: Binding): Promise<string> {
    const [{ id, key }] = (await loadKeys()) as [Key];
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const plain = encoder.encode(JSON.stringify({ ...content, e: Date.now() + maxAgeMs }));
    if (plain.byteLength > maxBytes) {
      throw new McpError(
        'internal_error',
        `The answers and step results so far have ${plain.byteLength} bytes, and asking.maxBytes is ${maxBytes}. Return less from steps: an id instead of a document.`,
      );
    }
    const additionalData = await bindingDigest(server, binding);
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain);
    return [VERSION, id, encodeBase64Url(iv), encodeBase64Url(new Uint8Array(sealed))].join('.');
  }

  async function open(state: string, binding: Binding, answers: object = {}): Promise<JsonObject> {
    const [version, id, iv, sealed, ...rest] = state.length > maxBytes * 2 ? [] : state.split('.');
    const key = (await loadKeys()).find((candidate) => candidate.id === id)?.key;
    const ivBytes = decodeBase64Url(iv ?? '');
    const bytes = decodeExactly(sealed ?? '');
    if (version !== VERSION || rest.length > 0 || !key || ivBytes?.byteLength !== IV_BYTES || !bytes)
      throw refusedState();
    const additionalData = await bindingDigest(server, binding);
    const plain = await crypto.subtle
      .decrypt({ name: 'AES-GCM', iv: ivBytes, additionalData }, key, bytes)
      .catch(() => {
        throw refusedState();
      });
    const content: unknown = JSON.parse(new TextDecoder().decode(plain));
    if (!isObject(content) || typeof content['e'] !== 'number') throw refusedState();
    if (content['e'] <= Date.now())
      throw new McpError('invalid_params', 'params.requestState has expired: call again without it');
    // A state that was refused for the size of the answers may come back with shorter ones.
    checkAnswersFit(answers, { earlierBytes: plain.byteLength, maxBytes });
    if (used !== undefined) {
      const name = `${USED}${await callerPart(binding.principal)}:${iv}`;
      const isFirst = await used.add(name, {}, content['e']).catch((error: unknown) => {
        onUnrecorded?.(error);
        throw unrecordedUse(error);
      });
      if (!isFirst) throw refusedState();
    }
    return content;
  }

  function provide(secret: string): void {
    if (secrets !== undefined) return;
    checkSecret(secret);
    secrets = [secret];
    keys = undefined;
  }

  return { maxBytes, close, open, provide };
}

function check({ secrets, maxAgeMs, maxBytes }: SealOptions): void {
  if (secrets?.length === 0)
    throw new RangeError('"secret" must have at least one secret; leave it out for a random one');
  for (const secret of secrets ?? []) checkSecret(secret);
  for (const [name, value] of Object.entries({ maxAgeMs, maxBytes })) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`"asking.${name}" must be a whole number, 1 or more`);
  }
}

// One sentence for every way of being wrong: an attacker learns nothing from it, and a developer what to compare.
function refusedState(): McpError {
  return new McpError(
    'invalid_params',
    'params.requestState was refused. It must come back unchanged, from the same caller, with the same method, name and arguments, to a server of the same name and secret, and only once if the server says so. Call again without it.',
  );
}

function unrecordedUse(cause: unknown): McpError {
  return new McpError(
    'overloaded',
    'The answers were not used: it could not be recorded that params.requestState is used. Try again later with the same answers and state.',
    { cause },
  );
}

// The last character has bits that no byte needs: a text that differs only in those is not the one we wrote.
function decodeExactly(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64Url(text);
  return bytes !== undefined && encodeBase64Url(bytes) === text ? bytes : undefined;
}

async function bindingDigest(
  server: string,
  { principal, method, name, args }: Binding,
): Promise<Uint8Array<ArrayBuffer>> {
  const text = JSON.stringify([VERSION, server, principal, method, name, canonical(args)]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
}

async function deriveKey(secret: string): Promise<Key> {
  const material = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveBits',
  ]);
  const derive = (label: string, bits: number): Promise<ArrayBuffer> =>
    crypto.subtle.deriveBits(
      { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode(`fullmcp ${label}`) },
      material,
      bits,
    );
  const key = await crypto.subtle.importKey('raw', await derive('state', 256), 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ]);
  return { id: encodeBase64Url(new Uint8Array(await derive('state id', 48))), key };
}

function randomSecret(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}
