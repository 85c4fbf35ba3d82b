// Writes a zip file. The same files give the same bytes: there are no times in it.

import { deflateRawSync } from 'node:zlib';

export interface ZippedFile {
  /** The path in the archive, with `/` between its parts. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** Limits of the format without its extension for large files. */
const MAX_FILES = 65_535;
const MAX_BYTES = 0xffffffff;
/** UTF-8 in names. */
const FLAGS = 0x0800;
const DEFLATED = 8;
const STORED = 0;
/** The first of January 1980, the earliest that the format knows. */
const DATE = 0x0021;
const UNIX = 3;

/** The bytes of an archive with these files, in this order. */
export function zip(files: readonly ZippedFile[]): Buffer {
  if (files.length > MAX_FILES)
    throw new RangeError(`it would have ${files.length} files, and may have ${MAX_FILES}`);
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const { local, central } = entry(file, offset);
    parts.push(...local);
    directory.push(central);
    offset += local.reduce((sum, part) => sum + part.length, 0);
    if (offset > MAX_BYTES) throw new RangeError('it would be larger than 4 GB');
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

function entry(
  file: ZippedFile,
  offset: number,
): { readonly local: readonly Buffer[]; readonly central: Buffer } {
  const { path, bytes, isExecutable } = file;
  const name = Buffer.from(path);
  const deflated = deflateRawSync(bytes, { level: 9 });
  const isSmaller = deflated.length < bytes.length;
  const data = isSmaller ? deflated : Buffer.from(bytes);
  // The fields that both headers have.
  const shared = Buffer.alloc(26);
  shared.writeUInt16LE(20, 0);
  shared.writeUInt16LE(FLAGS, 2);
  shared.writeUInt16LE(isSmaller ? DEFLATED : STORED, 4);
  shared.writeUInt16LE(DATE, 8);
  shared.writeUInt32LE(crc32(bytes), 10);
  shared.writeUInt32LE(data.length, 14);
  shared.writeUInt32LE(bytes.length, 18);
  shared.writeUInt16LE(name.length, 22);
  const start = Buffer.alloc(4);
  start.writeUInt32LE(0x04034b50, 0);
  const head = Buffer.alloc(6);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE((UNIX << 8) | 20, 4);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(((isExecutable ? 0o100755 : 0o100644) << 16) >>> 0, 6);
  tail.writeUInt32LE(offset, 10);
  return { local: [start, shared, name, data], central: Buffer.concat([head, shared, tail, name]) };
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 0xff] as number) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
