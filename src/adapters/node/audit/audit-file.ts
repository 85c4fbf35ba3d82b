import { hostname } from 'node:os';
import process from 'node:process';
import { macsOf } from '../../../middleware/audit/mac.js';
import type { AuditReport, VerifyAuditOptions } from '../../../middleware/audit/verify.js';
import type { AuditSink } from '../../../middleware/audit/writer.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { LogFile } from './log-file.js';

// An audit log in files. The code behind it is loaded when a log is opened.

/** The options of `auditFile`. */
export interface AuditFileOptions {
  /**
   * The file. It is created with its folder, readable only by its owner. `{pid}` and `{host}` stand for the number of the process and
   * the name of the host: two processes cannot write to the same file.
   */
  readonly path: string;
  /**
   * The secret for the hashes, at least 32 characters, which only the server and its auditors know; in an array, the first one is
   * used. Default: none; anybody who can write to the file can then compute the hashes of changed entries.
   */
  readonly secret?: string | readonly string[] | undefined;
  /**
   * The file that names the last entry, by which `verifyAuditFile` sees that the end of the log was cut off. On another disk, or of another
   * owner, it protects better. Default: `path` with `.head` added.
   */
  readonly head?: string | undefined;
  /** Whether entries are on the disk, and not only with the operating system, before calls are answered. Default: false. */
  readonly sync?: boolean | undefined;
  /** The size in bytes above which the file is renamed to `path.1`, `path.2` and so on, and a new one begins. Default: 100 MB. */
  readonly maxBytes?: number | undefined;
}

const optionTable = {
  path: 'any',
  secret: ['string', 'strings'],
  head: 'string',
  sync: { is: 'boolean', default: false },
  maxBytes: { is: 'count', default: 100_000_000 },
} as const satisfies OptionTable<AuditFileOptions>;

/**
 * A file for `audit`: one line of JSON for each entry, linked by hashes, so that `verifyAuditFile` finds lines that were changed,
 * removed or moved. Only one process can write to it at a time; the next one continues it.
 * @example
 * ```ts
 * use: [audit({ to: auditFile({ path: '/var/log/app/audit.jsonl', secret: process.env.AUDIT_SECRET }) })]
 * ```
 */
export function auditFile(options: AuditFileOptions): AuditSink {
  const read = readOptions('auditFile', options, optionTable);
  const { path, secret, head = `${path}.head`, sync, maxBytes } = read;
  if (typeof path !== 'string' || path === '')
    throw new TypeError('auditFile: `path` must be the path of a file.');
  // Only to check them: a short secret is reported where it is written.
  macsOf(secret);
  let file: LogFile | undefined;
  return {
    async open(log) {
      const { openLogFile } = await import('./log-file.js');
      file = await openLogFile({ path: withNames(path), head: withNames(head), secret, sync, maxBytes, log });
    },
    async write(entries) {
      await file?.write(entries);
    },
    async close() {
      await file?.close();
      file = undefined;
    },
  };
}

/**
 * Checks the log of `auditFile` with all its files: that no line was changed, removed or moved, and that the end was not cut off since its
 * head was written. The log may be in use.
 */
export async function verifyAuditFile(path: string, options: VerifyAuditOptions = {}): Promise<AuditReport> {
  const { verifyFiles } = await import('./verify-files.js');
  return verifyFiles(path, options);
}

function withNames(path: string): string {
  return path.replaceAll('{pid}', String(process.pid)).replaceAll('{host}', hostname());
}
