import { type AuditHead, EMPTY } from '../../../middleware/audit/chain.js';
import type { AuditNote } from '../../../middleware/audit/entry.js';
import type { Mac } from '../../../middleware/audit/mac.js';
import { tornDigest } from '../../../middleware/audit/verify.js';
import type { MiddlewareHost } from '../../../state/hosted-middleware.js';
import type { HeadFile } from './head-file.js';
import { rotatedNumbers, rotatedPath } from './rotated.js';
import { readTail, type Tail } from './tail.js';

// Finds out how a log continues that another process wrote, perhaps until it crashed.

/** The state of a log that continues. */
export interface Resumed {
  /** The entry that the next one follows. */
  readonly start: AuditHead;
  /** The parts of the next entry that say in which state the log was found. */
  readonly found: Pick<AuditNote & { type: 'open' }, 'torn' | 'cut' | 'head'>;
  /** The bytes that end the last line, if a crash has torn it. */
  readonly lineBreak: string;
  /** The number of the last file that was renamed; 0 if there is none. */
  readonly number: number;
}

/** The parts that `resumeLog` needs. */
export interface ResumeParts {
  readonly path: string;
  readonly macs: readonly Mac[];
  readonly head: HeadFile;
  readonly log: MiddlewareHost['log'];
}

/** Reads the end of a log. Tells the operator if entries were removed or changed, and continues. */
export async function resumeLog({ path, macs, head, log }: ResumeParts): Promise<Resumed> {
  const number = (await rotatedNumbers(path)).at(-1) ?? 0;
  const tail = await readTail(path, macs);
  // A file that has no entry yet continues the one before it.
  const isFresh = tail?.head === undefined && number > 0;
  const last = isFresh ? await readTail(rotatedPath(path, number), macs) : tail;
  if (tail?.torn !== undefined && last?.head === undefined && !tail.torn.startsWith('{"seq":1,'))
    throw new Error(`The file ${path} is not an audit log. Choose another path, or move it away.`);
  const end = last?.head ?? EMPTY;
  const known = head.read();
  const isCut = known !== undefined && known !== 'unreadable' && known.seq > end.seq;
  report({ path, tail: last, known, isCut }, log);
  const text = tail?.torn;
  return {
    start: isCut ? { seq: known.seq, hash: end.hash } : end,
    found: {
      torn: text === undefined ? undefined : { chars: text.length, digest: tornDigest(macs[0] as Mac, text) },
      cut: isCut ? true : undefined,
      head: known === 'unreadable' ? known : known === undefined && end.seq > 0 ? 'missing' : undefined,
    },
    lineBreak: tail?.isOpenLine ? '\n' : '',
    number,
  };
}

interface Findings {
  readonly path: string;
  readonly tail: Tail | undefined;
  readonly known: ReturnType<HeadFile['read']>;
  readonly isCut: boolean;
}

function report({ path, tail, known, isCut }: Findings, log: MiddlewareHost['log']): void {
  const end = tail?.head;
  const tell = (problem: string): void => log('error', `The audit log ${path} ${problem}`);
  if (tail?.changed !== undefined)
    tell(
      `was changed at entry ${tail.changed} or the one before it, or its secret was changed without the old one.`,
    );
  if (known === 'unreadable')
    tell('has a head file that was changed, or that was written with another secret.');
  else if (known === undefined && end !== undefined)
    tell('has lost its head file, so nobody can tell whether its end was cut off.');
  else if (isCut)
    tell(
      `ends with entry ${end?.seq ?? 0}, but had ${known?.seq}: its end was cut off, or lost in a power failure.`,
    );
  else if (known !== undefined && known.seq === end?.seq && known.hash !== end.hash)
    tell(`has another entry ${end.seq} than the one that was written.`);
}
