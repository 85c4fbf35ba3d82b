import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { digestOf } from '../../../protocol/canonical.js';
import {
  deriveSealingKey,
  type SealingKey,
  sealBytes,
  unsealBytes,
} from '../../../protocol/encoding/sealing.js';

const PURPOSE = 'oauth proxy';
const MAX_LENGTH = 512 * 1024;

/**
 * Seals everything that leaves the process: tokens, cookies, forms, and the records in the store. A sealed string opens only as
 * what it was sealed as: another kind, another proxy or another place does not open it.
 */
export class Sealer {
  readonly #keys: Promise<readonly SealingKey[]>;
  readonly #owner: string;

  /** @param owner Tells this proxy from others that have the same secrets. */
  constructor(secrets: readonly string[], owner: string) {
    this.#keys = Promise.all(secrets.map((secret) => deriveSealingKey(secret, PURPOSE)));
    this.#keys.catch(() => undefined);
    this.#owner = owner;
  }

  /** Seals a value as a kind of thing, at a place such as the key of a record. */
  async seal(kind: string, content: JsonObject, place = ''): Promise<string> {
    const [key] = (await this.#keys) as [SealingKey];
    const plain = new TextEncoder().encode(JSON.stringify(content));
    return sealBytes(key, plain, await this.#binding(kind, place));
  }

  /** The value; undefined if the string was not sealed by this proxy as this kind, at this place. */
  async open(kind: string, text: string, place = ''): Promise<JsonObject | undefined> {
    if (text.length > MAX_LENGTH) return undefined;
    const unsealed = await unsealBytes(await this.#keys, text, await this.#binding(kind, place));
    if (unsealed === undefined || unsealed === 'foreign') return undefined;
    const content: unknown = JSON.parse(new TextDecoder().decode(unsealed.plain));
    return isObject(content) ? content : undefined;
  }

  /** Whether a string was sealed with an older secret, so that it should be sealed again while that secret is known. */
  async isOld(text: string): Promise<boolean> {
    const [key] = (await this.#keys) as [SealingKey];
    return !text.startsWith(`${key.id}.`);
  }

  /** Seals a value that expires. */
  async sealFor(ms: number, kind: string, content: JsonObject, place = ''): Promise<string> {
    return this.seal(kind, { ...content, e: Date.now() + ms }, place);
  }

  /** Opens a value that expires; undefined if it has expired. */
  async openFresh(kind: string, text: string, place = ''): Promise<JsonObject | undefined> {
    const content = await this.open(kind, text, place);
    return content !== undefined && Number(content['e']) > Date.now() ? content : undefined;
  }

  #binding(kind: string, place: string): Promise<Uint8Array<ArrayBuffer>> {
    return digestOf(JSON.stringify([kind, this.#owner, place]));
  }
}
