import { open } from 'node:fs/promises';
import { type AuditHead, hashOf, type ReadLine, readLine } from '../../../middleware/audit/chain.js';
import type { Mac } from '../../../middleware/audit/mac.js';

// The end of a file as the last process left it.

/** The end of a file. */
export interface Tail {
  /** The last entry; undefined if the file has none. */
  readonly head: AuditHead | undefined;
  /** The text after the last entry, which a crash has left; undefined if there is none. */
  readonly torn: string | undefined;
  /** Whether the file ends within a line. */
  readonly isOpenLine: boolean;
  /** The number of an entry near the end that was changed; undefined if there is none. */
  readonly changed: number | undefined;
}

/** Entries are shorter than this, and a crash leaves less. */
const WINDOW = 4 * 1024 * 1024;
const LINE_BREAK = 0x0a;

/** Reads the end of a file; undefined if there is no file. */
export async function readTail(path: string, macs: readonly Mac[]): Promise<Tail | undefined> {
  const bytes = await readEnd(path);
  if (bytes === undefined) return undefined;
  const lines = linesIn(bytes);
  let at = lines.length - 1;
  while (at >= 0 && readLine(lines[at] as string) === undefined) at--;
  const isOpenLine = bytes.length > 0 && bytes[bytes.length - 1] !== LINE_BREAK;
  const rest = lines.slice(at + 1);
  // The text after the last line break is not a line.
  const torn = (isOpenLine ? rest : rest.slice(0, -1)).join('\n');
  const head = at < 0 ? undefined : readLine(lines[at] as string);
  return {
    head: head && { seq: head.seq, hash: head.hash },
    torn: torn === '' ? undefined : torn,
    isOpenLine,
    changed: changedIn(lines.slice(0, at + 1), macs),
  };
}

/** The lines in some bytes, also as a reader of the whole file decodes them. The last one is empty if the bytes end with a line break. */
export function linesIn(bytes: Buffer): string[] {
  const lines: string[] = [];
  let from = 0;
  for (let to = bytes.indexOf(LINE_BREAK); to >= 0; to = bytes.indexOf(LINE_BREAK, from)) {
    lines.push(bytes.toString('utf8', from, to));
    from = to + 1;
  }
  lines.push(bytes.toString('utf8', from));
  return lines;
}

async function readEnd(path: string): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  try {
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    const length = Math.min(size, WINDOW);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const bytes = buffer.subarray(0, bytesRead);
    // The first line of a window may be half a line.
    return size > WINDOW ? bytes.subarray(bytes.indexOf(LINE_BREAK) + 1) : bytes;
  } finally {
    await file?.close();
  }
}

function changedIn(lines: readonly string[], macs: readonly Mac[]): number | undefined {
  let before: ReadLine | undefined;
  for (const line of lines) {
    const read = readLine(line);
    if (before !== undefined && read !== undefined) {
      const { hash, body, seq } = read;
      const last = before.hash;
      if (!macs.some((mac) => hashOf(mac, last, body) === hash)) return seq;
    }
    before = read ?? before;
  }
  return undefined;
}
