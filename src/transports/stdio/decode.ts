import { Buffer } from 'node:buffer';

/** Decodes a part of some bytes as UTF-8, on Node several times as fast as `TextDecoder` does, and with the same result. */
export function decodeUtf8(bytes: Uint8Array, from: number, to: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString('utf8', from, to);
}
