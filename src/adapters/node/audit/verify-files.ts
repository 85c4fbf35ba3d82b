import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import {
  type AuditReport,
  type VerifyAuditOptions,
  verifyTable,
  verifyWith,
} from '../../../middleware/audit/verify.js';
import { readOptions } from '../../../protocol/checks/options.js';
import { nodeMac } from './node-mac.js';
import { rotatedNumbers, rotatedPath } from './rotated.js';
import { linesIn } from './tail.js';

/** A longer line is not an entry, and is cut off. */
const MAX_LINE = 16 * 1024 * 1024;

/** The log may begin another file while it is read. */
const MAX_ATTEMPTS = 5;

/** Checks the files of a log. */
export async function verifyFiles(path: string, given: VerifyAuditOptions): Promise<AuditReport> {
  const options = readOptions('verifyAuditFile', given, verifyTable);
  for (let attempt = 1; ; attempt++) {
    // Before the files: entries that are written in the meantime must not look as if they were missing.
    const head = options.head ?? (await readFile(`${path}.head`, 'utf8').catch(() => ''));
    const numbers = await rotatedNumbers(path);
    const paths = [...numbers.map((number) => rotatedPath(path, number)), path];
    const report = await verifyWith(nodeMac, linesOf(paths), { ...options, head });
    const hasRotated = (await rotatedNumbers(path)).length > numbers.length;
    if (!hasRotated || attempt === MAX_ATTEMPTS) return report;
  }
}

async function* linesOf(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of chunksOf(path)) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(0x0a);
      if (end >= 0) yield* linesIn(bytes.subarray(0, end));
      rest = bytes.subarray(end + 1);
      if (rest.length > MAX_LINE) rest = rest.subarray(0, MAX_LINE);
    }
    if (rest.length > 0) yield rest.toString('utf8');
  }
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: 1024 * 1024 });
  } catch (error) {
    // A log that has just begun another file, or that was removed: its head tells.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
