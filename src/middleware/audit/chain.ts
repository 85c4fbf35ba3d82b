import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { AuditNote } from './entry.js';
import { type Mac, macsOf } from './mac.js';

// The chain: each line of a log has a hash of its own text and of the hash before it.

/** The last entry of a log. It shows when the log was cut off before it. */
export interface AuditHead {
  /** The number of the entry; the first one has the number 1. */
  readonly seq: number;
  /** The hash of the entry. */
  readonly hash: string;
}

/** Links the entries of one log. */
export interface AuditChain {
  /** The last entry so far. */
  readonly head: AuditHead;
  /** The next line of the log, without its line break. */
  readonly line: (entry: AuditNote) => string;
}

/** The options of `auditChain`. */
export interface AuditChainOptions {
  /** The secret for the hashes, at least 32 characters; the first one of an array. Default: none, so that anybody can compute them. */
  readonly secret?: string | readonly string[] | undefined;
  /** The last entry of the log that is continued. Default: a new log. */
  readonly head?: AuditHead | undefined;
}

/** An entry as it was read from a line. */
export interface ReadLine extends AuditHead {
  readonly entry: JsonObject;
  /** The text that the hash is of, without the hash before it. */
  readonly body: string;
}

/** The head of an empty log. */
export const EMPTY: AuditHead = { seq: 0, hash: '' };

const HASH_FIELD = ',"hash":"';
const HASH_CHARS = 43;
const ENDING = HASH_FIELD.length + HASH_CHARS + 2;
const HEAD_CHARS = 159;

const chainTable = {
  secret: ['string', 'strings'],
  head: { is: 'object', default: EMPTY },
} as const satisfies OptionTable<AuditChainOptions>;

/**
 * Links the entries of a log that a program keeps itself: `verifyAudit` checks its lines. `auditFile` of `fullmcp/node` has a chain
 * of its own.
 */
export function auditChain(options: AuditChainOptions = {}): AuditChain {
  const { secret, head } = readOptions('auditChain', options, chainTable);
  const [mac] = macsOf(secret);
  return chainWith(mac as Mac, head);
}

/** Links entries with `mac`. */
export function chainWith(mac: Mac, start: AuditHead): AuditChain {
  let head = start;
  return {
    get head() {
      return head;
    },
    line(entry) {
      const seq = head.seq + 1;
      const body = `{"seq":${seq},${JSON.stringify(entry).slice(1)}`;
      const hash = hashOf(mac, head.hash, body);
      head = { seq, hash };
      return `${body.slice(0, -1)}${HASH_FIELD}${hash}"}`;
    },
  };
}

/** The hash of an entry. */
export function hashOf(mac: Mac, before: string, body: string): string {
  return mac(`${before}\n${body}`);
}

/** Reads a line; undefined if it is not one of a log. */
export function readLine(line: string): ReadLine | undefined {
  const at = line.length - ENDING;
  if (!line.startsWith(HASH_FIELD, at) || !line.endsWith('"}')) return undefined;
  const body = `${line.slice(0, at)}}`;
  const entry = tryParseObject(body);
  const seq = entry?.['seq'];
  if (entry === undefined || !Number.isSafeInteger(seq)) return undefined;
  return { seq: seq as number, hash: line.slice(at + HASH_FIELD.length, -2), entry, body };
}

/** Prints the head of a log with a code, always in the same number of characters. */
export function printHead(mac: Mac, { seq, hash }: AuditHead): string {
  const printed = JSON.stringify({ seq, hash, mac: mac(`head\n${seq}\n${hash}`) });
  return `${printed.padEnd(HEAD_CHARS)}\n`;
}

/** Reads a printed head; undefined if it is not one, or if its code is wrong. */
export function readHead(macs: readonly Mac[], text: string): AuditHead | undefined {
  const { seq, hash, mac } = tryParseObject(text) ?? {};
  if (!Number.isSafeInteger(seq) || typeof hash !== 'string') return undefined;
  const isRight = macs.some((one) => one(`head\n${seq}\n${hash}`) === mac);
  return isRight ? { seq: seq as number, hash } : undefined;
}
