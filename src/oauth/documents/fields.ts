import type { JsonObject } from '../../jsonrpc/message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { checkUrl, type UrlPolicy } from '../fetch/check-url.js';
import { SafeFetchError } from '../fetch/safe-fetch.js';
import { DocumentError, type DocumentHop } from './document-error.js';

// Reads the members of a peer's document.

const MAX_STRING_LENGTH = 4096;
const MAX_ARRAY_LENGTH = 1000;

/** Reads the members of one document. Null means absent, since many servers print it for that. Reports mistakes with the member's name. */
export class Fields {
  readonly #json: JsonObject;
  readonly #hop: DocumentHop;
  readonly #where: string;

  /** @param where The document's address, for messages. */
  constructor(json: JsonObject, { hop, where }: { readonly hop: DocumentHop; readonly where: string }) {
    this.#json = json;
    this.#hop = hop;
    this.#where = where;
  }

  /** Whether the document has a member at all, even null. */
  has(name: string): boolean {
    return Object.hasOwn(this.#json, name);
  }

  get(name: string): unknown {
    return this.has(name) ? (this.#json[name] ?? undefined) : undefined;
  }

  string(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value.length > MAX_STRING_LENGTH)
      throw this.mistake(`\`${name}\` must be a string of at most ${MAX_STRING_LENGTH} characters`);
    return value;
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined || value === '') throw this.mistake(`\`${name}\` is missing`);
    return value;
  }

  strings(name: string): string[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const isValid =
      Array.isArray(value) &&
      value.length <= MAX_ARRAY_LENGTH &&
      value.every((one) => typeof one === 'string' && one.length <= MAX_STRING_LENGTH);
    if (!isValid) throw this.mistake(`\`${name}\` must be an array of at most ${MAX_ARRAY_LENGTH} strings`);
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.get(name);
    if (value !== undefined && typeof value !== 'boolean')
      throw this.mistake(`\`${name}\` must be true or false`);
    return value;
  }

  /** A URL that may be requested or opened under the policy. Its text is returned unchanged. */
  url(name: string, policy: UrlPolicy): string | undefined {
    const value = this.string(name);
    if (value !== undefined) this.checkUrl(name, value, policy);
    return value;
  }

  checkUrl(name: string, value: string, policy: UrlPolicy): void {
    try {
      checkUrl(value, policy);
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error;
      throw this.mistake(`\`${name}\` cannot be used: ${error.message.replace(/\.$/, '')}`, error);
    }
  }

  mistake(what: string, cause?: unknown): DocumentError {
    const message = `The ${this.#hop} at ${this.#where} is not valid: ${what}.`;
    return new DocumentError(this.#hop, 'bad_document', message, { cause });
  }
}

/** A peer's value in a message. */
export function quoted(text: string): string {
  return quote(text, 200);
}
