import { encodeBase64Url } from '../../../protocol/encoding/base64.js';

// Nonces for proofs that need no memory: each is the MAC of a period of time, so that all processes with the same secret know it.

const PERIOD_MS = 5 * 60_000;
const encoder = new TextEncoder();

/** Issues nonces, and accepts those of the period before and of the next one, since the clocks of processes differ. */
export class Nonces {
  readonly #keys: Promise<readonly CryptoKey[]>;
  readonly #now: () => number;
  #around:
    | { readonly period: number; readonly current: string; readonly accepted: ReadonlySet<string> }
    | undefined;

  /** @param secrets The first one issues, all are accepted. */
  constructor(secrets: readonly string[], now: () => number = Date.now) {
    this.#keys = Promise.all(secrets.map(deriveKey));
    // The error appears where a nonce is needed.
    this.#keys.catch(() => undefined);
    this.#now = now;
  }

  /** The nonce for the next proof. */
  async current(): Promise<string> {
    return (await this.#compute()).current;
  }

  async accepts(nonce: unknown): Promise<boolean> {
    return typeof nonce === 'string' && (await this.#compute()).accepted.has(nonce);
  }

  async #compute(): Promise<{ readonly current: string; readonly accepted: ReadonlySet<string> }> {
    const period = Math.floor(this.#now() / PERIOD_MS);
    if (this.#around?.period === period) return this.#around;
    const keys = await this.#keys;
    const all = await Promise.all(
      keys.flatMap((key) => [period, period - 1, period + 1].map((one) => nonceOf(key, one))),
    );
    const [current = ''] = all;
    this.#around = { period, current, accepted: new Set(all) };
    return this.#around;
  }
}

async function nonceOf(key: CryptoKey, period: number): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', key, encoder.encode(`${period}`));
  return encodeBase64Url(new Uint8Array(mac));
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey']);
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode('fullmcp dpop nonce') },
    material,
    { name: 'HMAC', hash: 'SHA-256', length: 256 },
    false,
    ['sign'],
  );
}
