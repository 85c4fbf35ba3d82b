// SHA-256 without Web Crypto, which is asynchronous: with it, a question could not be asked in the same turn of the event loop in
// which the handler asks it. FIPS 180-4, 6.2.

/** Computes SHA-256 synchronously. For messages of a few kilobytes. */
export function sha256(message: Uint8Array): Uint8Array {
  const length = Math.ceil((message.length + 9) / 64) * 64;
  const padded = new Uint8Array(length);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(length - 8, Math.floor(message.length / 0x20000000));
  view.setUint32(length - 4, message.length << 3);
  const hash = Int32Array.from(initial);
  const schedule = new Int32Array(64);
  for (let at = 0; at < length; at += 64) compress(hash, schedule, { view, at });
  const digest = new DataView(new ArrayBuffer(32));
  hash.forEach((word, index) => void digest.setInt32(index * 4, word));
  return new Uint8Array(digest.buffer);
}

// Written without helper arrays: each would be allocated for every 64 bytes.
function compress(
  hash: Int32Array,
  w: Int32Array,
  { view, at }: { readonly view: DataView; readonly at: number },
): void {
  for (let t = 0; t < 16; t++) w[t] = view.getInt32(at + t * 4);
  for (let t = 16; t < 64; t++) {
    const early = w[t - 15] as number;
    const late = w[t - 2] as number;
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[t] = ((w[t - 16] as number) + s0 + (w[t - 7] as number) + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = hash as unknown as Eight;
  for (let t = 0; t < 64; t++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (constants[t] as number) + (w[t] as number)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  const changes: Eight = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index++) hash[index] = (hash[index] as number) + (changes[index] as number);
}

type Eight = [number, number, number, number, number, number, number, number];

function rotate(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by));
}

// The fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 64.
const primes = firstPrimes(64);
const initial = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 0x100000000);
}

function firstPrimes(count: number): readonly number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}
