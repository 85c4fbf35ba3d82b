// Reads a package as npm packs it, down to the bytes that no extractor looks at, and names everything in which two of them differ.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

/**
 * `meta` are the fields of an entry's header, in the words of tar.
 * @typedef {{ path: string, meta: Record<string, string>, data: Buffer }} Entry
 *
 * `gzip` are the fields of the header of the compressed stream, and `end` its last number: the length of the archive, unless something follows it.
 * @typedef {{ sha256: string, gzip: Record<string, string>, end: number, tar: Buffer, entries: Entry[] }} Tarball
 */

const BLOCK = 512;
/** A package of 100 MB is not one of ours. It also bounds what a hostile tarball unpacks to. */
const MAX_BYTES = 100_000_000;
/** The fields of a header of tar, in the order in which they stand there, with their lengths. */
const FIELDS = /** @type {const} */ ([
  ['name', 100],
  ['mode', 8],
  ['owner', 8],
  ['group', 8],
  ['size', 12],
  ['time', 12],
  ['checksum', 8],
  ['type', 1],
  ['link', 100],
  ['format', 8],
  ['owner name', 32],
  ['group name', 32],
  ['device', 16],
  ['prefix', 155],
]);
/** Fields that only repeat a difference that another field, or the contents, shows as well. */
const DERIVED = ['size', 'checksum'];

/** @param {Buffer} bytes @returns {Tarball} */
export function readTarball(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    throw new Error('It is not a gzipped tarball, as npm packs it.');
  const tar = gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    gzip: readGzip(bytes),
    end: bytes.readUInt32LE(bytes.length - 4),
    tar,
    entries: readEntries(tar),
  };
}

/**
 * Every difference between two tarballs, as a sentence with the name of the file.
 * @param {Tarball} one @param {Tarball} other @param {{ one: string, other: string }} names
 */
export function differencesOf(one, other, names) {
  const [first, second] = [byPath(one), byPath(other)];
  const differences = [
    ...fieldsThatDiffer(one.gzip, other.gzip).map((what) => `gzip: ${what}`),
    ...repeated(one).map((path) => `${path}: more than once in ${names.one}`),
    ...repeated(other).map((path) => `${path}: more than once in ${names.other}`),
    ...[...first.keys()].filter((path) => !second.has(path)).map((path) => `${path}: only in ${names.one}`),
    ...[...second.keys()].filter((path) => !first.has(path)).map((path) => `${path}: only in ${names.other}`),
    ...[...first].flatMap(([path, entry]) => compareEntries(path, entry, second.get(path))),
  ];
  if (differences.length > 0) return differences;
  const moved = one.entries.find(({ path }, index) => path !== other.entries[index]?.path);
  if (moved !== undefined) return [`${moved.path}: stands at another place in the order of files`];
  // Padding between entries, or bytes after the last one.
  if (!one.tar.equals(other.tar)) return ['The bytes between or after the files differ.'];
  return one.end === other.end ? [] : ['Bytes follow the compressed archive.'];
}

/** @param {string} path @param {Entry} entry @param {Entry | undefined} other @returns {string[]} */
function compareEntries(path, entry, other) {
  if (other === undefined) return [];
  const fields = fieldsThatDiffer(entry.meta, other.meta).map((what) => `${path}: ${what}`);
  if (entry.data.equals(other.data)) return fields;
  const lengths = `${entry.data.length} and ${other.data.length} bytes`;
  const at = entry.data.findIndex((byte, index) => byte !== other.data[index]);
  return [...fields, `${path}: contents differ at byte ${at < 0 ? entry.data.length : at} (${lengths})`];
}

/** @param {Record<string, string>} one @param {Record<string, string>} other */
function fieldsThatDiffer(one, other) {
  return Object.keys(one)
    .filter((field) => one[field] !== other[field] && !DERIVED.includes(field))
    .map((field) => `${field} is ${JSON.stringify(one[field])} and ${JSON.stringify(other[field])}`);
}

/** @param {Tarball} tarball */
function byPath({ entries }) {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** An extractor takes the last of two entries with one name. @param {Tarball} tarball */
function repeated({ entries }) {
  const seen = new Set();
  return entries.map(({ path }) => path).filter((path) => seen.has(path) || !seen.add(path));
}

/**
 * RFC 1952: flags, time, level and system are where a clock, a file name or a comment could be.
 * @param {Buffer} bytes
 */
function readGzip(bytes) {
  return {
    flags: String(bytes[3]),
    time: String(bytes.readUInt32LE(4)),
    level: String(bytes[8]),
    system: String(bytes[9]),
  };
}

/** @param {Buffer} tar @returns {Entry[]} */
function readEntries(tar) {
  /** @type {Entry[]} */
  const entries = [];
  let at = 0;
  while (at + BLOCK <= tar.length && tar.subarray(at, at + BLOCK).some((byte) => byte !== 0)) {
    const meta = readHeader(tar.subarray(at, at + BLOCK));
    const size = Number.parseInt(meta['size'] ?? '', 8);
    if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > tar.length)
      throw new Error(`The tarball is damaged: the entry at byte ${at} does not end.`);
    const path = [meta['prefix'], meta['name']].filter(Boolean).join('/');
    entries.push({ path, meta, data: tar.subarray(at + BLOCK, at + BLOCK + size) });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return entries;
}

/** @param {Buffer} block @returns {Record<string, string>} */
function readHeader(block) {
  let at = 0;
  return Object.fromEntries(
    FIELDS.map(([field, length]) => {
      const text = block.toString('latin1', at, at + length);
      at += length;
      return [field, text.replace(/[\0 ]+$/, '')];
    }),
  );
}
