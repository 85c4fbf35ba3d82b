// Simulated cryptography: fast, and finished at once. It protects nothing, but notices every change as the real one does.

import type { Random } from './random.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** A key as the simulation needs it. */
interface SimulatedKey {
  readonly bytes: Bytes;
}

interface Sealing {
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
}

const DIGEST_BYTES = 32;
const TAG_BYTES = 16;

/** Makes a `crypto` whose results follow from a seed. The order in which threads finish would not. */
export function simulatedCrypto(random: Random): object {
  return {
    getRandomValues<T extends ArrayBufferView>(array: T): T {
      const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < view.length; at++) view[at] = random.byte();
      return array;
    },
    randomUUID: () => randomUUID(random),
    subtle: { ...subtle },
  };
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function randomUUID(random: Random): string {
  const two = (): string => `${hex[random.byte()]}${hex[random.byte()]}`;
  return `${two()}${two()}-${two()}-4${two().slice(1)}-a${two().slice(1)}-${two()}${two()}${two()}`;
}

const subtle = {
  digest: async (_algorithm: string, data: Uint8Array): Promise<ArrayBuffer> => digestOf([data]).buffer,

  importKey: async (_format: string, data: Uint8Array | ArrayBuffer): Promise<SimulatedKey> => ({
    bytes: new Uint8Array(data).slice(),
  }),

  async deriveBits(
    { info }: { readonly info: Uint8Array },
    { bytes }: SimulatedKey,
    bits: number,
  ): Promise<ArrayBuffer> {
    return digestOf([bytes, info]).slice(0, bits / 8).buffer;
  },

  sign: async (_algorithm: string, { bytes }: SimulatedKey, data: Uint8Array): Promise<ArrayBuffer> =>
    digestOf([bytes, data]).buffer,

  verify: async (
    _algorithm: string,
    { bytes }: SimulatedKey,
    signature: Uint8Array,
    data: Uint8Array,
  ): Promise<boolean> => isSame(digestOf([bytes, data]), signature),

  /** The text as it is, and a tag that depends on everything. */
  async encrypt(sealing: Sealing, key: SimulatedKey, plain: Uint8Array): Promise<ArrayBuffer> {
    const sealed = new Uint8Array(plain.length + TAG_BYTES);
    sealed.set(plain);
    sealed.set(tagOf(sealing, key, plain), plain.length);
    return sealed.buffer;
  },

  async decrypt(sealing: Sealing, key: SimulatedKey, sealed: Uint8Array): Promise<ArrayBuffer> {
    const plain = sealed.slice(0, Math.max(0, sealed.length - TAG_BYTES));
    if (isSame(tagOf(sealing, key, plain), sealed.subarray(plain.length))) return plain.buffer as ArrayBuffer;
    throw new Error('The tag is wrong.');
  },
};

function tagOf({ iv, additionalData }: Sealing, { bytes }: SimulatedKey, plain: Uint8Array): Bytes {
  return digestOf([bytes, iv, additionalData, plain]).slice(0, TAG_BYTES);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** A digest of 256 bits. Different inputs have different ones, unless somebody looks for a pair. */
function digestOf(parts: readonly Uint8Array[]): Bytes {
  let [a, b, c, d] = [0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f];
  for (const part of parts) {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul(b ^ byte ^ (a >>> 15), 0x85ebca6b);
      c = Math.imul(c + byte + (b >>> 13), 0xc2b2ae35);
      d = Math.imul(d ^ (byte + (c >>> 16)), 0x27d4eb2f);
    }
    // A length after each part, so that parts cannot flow into each other.
    a ^= part.length;
    c ^= part.length;
  }
  const words = new Uint32Array(DIGEST_BYTES / 4);
  for (let at = 0; at < words.length; at++) {
    a = Math.imul(a ^ (d >>> 15) ^ at, 0x2c1b3c6d);
    b = Math.imul(b ^ (a >>> 12), 0x297a2d39);
    c = Math.imul(c ^ (b >>> 15), 0x9e3779b1);
    d = Math.imul(d ^ (c >>> 13), 0x85ebca77);
    words[at] = a ^ b ^ c ^ d;
  }
  return new Uint8Array(words.buffer);
}
