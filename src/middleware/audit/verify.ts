import { isObject } from '../../jsonrpc/message.js';
import { type FilledOptions, readOptions } from '../../protocol/checks/options.js';
import { type AuditHead, EMPTY, hashOf, type ReadLine, readHead, readLine } from './chain.js';
import { type Mac, type MacOf, macsOf } from './mac.js';

// Checks the lines of a log.

/** The options of `verifyAudit`. */
export interface VerifyAuditOptions {
  /** The secret that the log was written with; all secrets if it has changed. Default: none. */
  readonly secret?: string | readonly string[] | undefined;
  /**
   * The last entry that the log is known to have: an `AuditHead`, or the content of the head file. Without it, nobody can tell whether
   * the end of the log was cut off.
   */
  readonly head?: AuditHead | string | undefined;
  /** Whether the log may begin with a later file than its first, because old files were removed on purpose. Default: false. */
  readonly mayLackStart?: boolean | undefined;
}

/** The table of `VerifyAuditOptions`. */
export const verifyTable = {
  secret: ['string', 'strings'],
  head: ['object', 'string'],
  mayLackStart: { is: 'boolean', default: false },
} as const;

/** A sign that a log was changed. */
type AuditProblem = {
  /**
   * `changed`: a line, or the one before it, was changed, or written with another secret. `missing`: lines were removed. `reordered`: a line
   * comes again, or too late. `unreadable`: a line is not an entry. `truncated`: the end of the log was cut off. `head`: the head
   * cannot be read or was changed, now or when a server opened the log.
   */
  readonly code: 'changed' | 'missing' | 'reordered' | 'unreadable' | 'truncated' | 'head';
  /** The number of the line, from 1; undefined if the problem is not in a line. */
  readonly line?: number | undefined;
  /** A sentence for people. */
  readonly message: string;
};

/** The result of `verifyAudit`. */
export interface AuditReport {
  /** Whether there is no problem. */
  readonly ok: boolean;
  /** The first 100 problems. */
  readonly problems: readonly AuditProblem[];
  /** The number of entries. */
  readonly entries: number;
  /** The last entry; undefined if the log is empty. Keep it elsewhere: passed as `head` later, it shows whether the log was cut off. */
  readonly head: AuditHead | undefined;
  /** The number of times that a crash has interrupted the writing of a line. The calls of such lines were never answered. */
  readonly torn: number;
  /** The number of entries that the server could not keep while it could not write. */
  readonly lost: number;
  /** The numbers of the `start` entries whose calls have no `end`: they ran when the server crashed, or are still running. At most 100. */
  readonly unfinished: readonly number[];
}

const MAX_LISTED = 100;
/** After a power failure, a torn line may be any bytes, line breaks among them. */
const MAX_TORN_LINES = 1000;

/**
 * Checks a log, line by line: that no line was changed, removed or moved, and, with `head`, that its end was not cut off. Of a log
 * in several files, pass the lines of all of them, the oldest file first.
 */
export async function verifyAudit(
  lines: Iterable<string> | AsyncIterable<string>,
  options: VerifyAuditOptions = {},
): Promise<AuditReport> {
  return verifyWith(undefined, lines, readOptions('verifyAudit', options, verifyTable));
}

/** Checks a log with another implementation of the hashes. */
export async function verifyWith(
  macOf: MacOf | undefined,
  lines: Iterable<string> | AsyncIterable<string>,
  { secret, head, mayLackStart }: FilledOptions<VerifyAuditOptions, typeof verifyTable>,
): Promise<AuditReport> {
  const macs = macsOf(secret, macOf);
  const check = new Check(macs, mayLackStart);
  const expected = typeof head === 'string' ? readHead(macs, head) : head;
  if (head !== undefined && expected === undefined)
    check.problem('head', 'The head cannot be read, or was changed, or was written with another secret.');
  for await (const line of lines) check.line(line, expected);
  return check.report(expected);
}

class Check {
  readonly #macs: readonly Mac[];
  readonly #mayLackStart: boolean;
  readonly #problems: AuditProblem[] = [];
  /** The number of lines in a row that are not entries, and the first of them. */
  #unreadable = 0;
  #unreadableText: string[] = [];
  #last: AuditHead = EMPTY;
  #line = 0;
  #entries = 0;
  #matching = 0;
  #torn = 0;
  #lost = 0;
  #open = new Map<unknown, number>();
  readonly #unfinished: number[] = [];

  constructor(macs: readonly Mac[], mayLackStart: boolean) {
    this.#macs = macs;
    this.#mayLackStart = mayLackStart;
  }

  problem(code: AuditProblem['code'], message: string, line?: number): void {
    if (this.#problems.length < MAX_LISTED) this.#problems.push({ code, line, message });
  }

  line(text: string, expected: AuditHead | undefined): void {
    this.#line++;
    const read = readLine(text);
    if (read === undefined) {
      if (++this.#unreadable <= MAX_TORN_LINES) this.#unreadableText.push(text);
      return;
    }
    if (this.#unreadable > 0) this.#endUnreadable(read);
    this.#entries++;
    this.#checkOrder(read);
    this.#follow(read);
    if (expected?.seq === read.seq && expected.hash !== read.hash)
      this.problem('changed', `Entry ${read.seq} is not the one that the head names.`, this.#line);
    this.#last = { seq: read.seq, hash: read.hash };
  }

  // A line that a crash has torn is described by the next entry, with a digest of its text.
  #endUnreadable({ entry: { torn } }: ReadLine): void {
    const text = this.#unreadableText.join('\n');
    const isDescribed = isObject(torn) && this.#macs.some((mac) => torn['digest'] === tornDigest(mac, text));
    if (isDescribed && this.#unreadable <= MAX_TORN_LINES) this.#torn++;
    else this.problem('unreadable', 'This line is not an entry.', this.#line - this.#unreadable);
    this.#unreadable = 0;
    this.#unreadableText = [];
  }

  #checkOrder({ seq, hash, body, entry }: ReadLine): void {
    const { seq: lastSeq, hash: lastHash } = this.#last;
    const isFirst = this.#entries === 1;
    const isPartial = isFirst && seq > 1 && entry['type'] === 'file' && typeof entry['prev'] === 'string';
    const before = isPartial ? String(entry['prev']) : lastHash;
    const isMatch = this.#macs.some((mac) => hashOf(mac, before, body) === hash);
    if (isMatch) this.#matching++;
    if (seq <= lastSeq) this.problem('reordered', `Entry ${seq} comes after entry ${lastSeq}.`, this.#line);
    else if (seq > lastSeq + 1 && !(isPartial && isMatch && this.#mayLackStart))
      this.problem(
        'missing',
        `${lastSeq + 2 === seq ? `Entry ${lastSeq + 1} is` : `Entries ${lastSeq + 1} to ${seq - 1} are`} missing.`,
        this.#line,
      );
    else if (!isMatch)
      this.problem(
        'changed',
        `Entry ${seq}${isFirst ? '' : ' or the one before it'} was changed, or was written with another secret.`,
        this.#line,
      );
  }

  #follow({ seq, entry }: ReadLine): void {
    const { type, call, count, head } = entry;
    if (type === 'start') this.#open.set(call, seq);
    else if (type === 'end') this.#open.delete(call);
    else if (type === 'lost' && typeof count === 'number') this.#lost += count;
    else if (type === 'open') this.#endRun();
    // The server has found this, and continued with a new head, which hides it.
    if (type === 'open' && typeof head === 'string')
      this.problem(
        'head',
        `The head was ${head} before entry ${seq}: entries may have been cut off there.`,
        this.#line,
      );
  }

  // The numbers of calls begin again with each run of the server.
  #endRun(): void {
    const room = MAX_LISTED - this.#unfinished.length;
    this.#unfinished.push(...[...this.#open.values()].slice(0, room));
    this.#open.clear();
  }

  report(expected: AuditHead | undefined): AuditReport {
    const { seq } = this.#last;
    // The text after the last line break is not a line.
    if (this.#unreadableText.join('') !== '') {
      // The server is writing this line, or a crash has torn it. If the head is an earlier entry, nothing else can have been here.
      if (expected !== undefined && expected.seq <= seq) this.#torn++;
      else this.problem('unreadable', 'This line is not an entry.', this.#line - this.#unreadable + 1);
    }
    if (expected !== undefined && expected.seq > seq)
      this.problem('truncated', `The log ends with entry ${seq}, but its head is entry ${expected.seq}.`);
    this.#endRun();
    const isForeign = this.#entries > 1 && this.#matching === 0;
    const problems: readonly AuditProblem[] = isForeign
      ? [
          {
            code: 'changed',
            message: 'No entry matches its hash. The secret is wrong, or the whole log was replaced.',
          },
        ]
      : this.#problems;
    return {
      ok: problems.length === 0,
      problems,
      entries: this.#entries,
      head: seq === 0 ? undefined : this.#last,
      torn: this.#torn,
      lost: this.#lost,
      unfinished: this.#unfinished,
    };
  }
}

/** The digest by which an entry describes a line that a crash has torn. */
export function tornDigest(mac: Mac, text: string): string {
  return mac(`torn\n${text}`);
}
