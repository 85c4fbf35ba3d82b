// Events of a journal on lines of stderr: how a process that the inspector started reports the runs of its handlers.

import { randomBytes } from 'node:crypto';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { JournalEvent } from '../contract/options.js';

/** The variable with the mark that the lines begin with. Without it, `fullmcp run` reports nothing. */
export const JOURNAL_VARIABLE = 'FULLMCP_JOURNAL';

const MARK = /^[0-9a-f]{32}$/;
const MAX_LINE = 4000;
const KINDS = ['ask', 'step', 'return'];
const CELLS = ['asked', 'known', 'ran', 'threw', 'returned'];

/** A mark that nothing else on stderr can have. */
export function newJournalMark(): string {
  return randomBytes(16).toString('hex');
}

export function isJournalMark(text: string | undefined): text is string {
  return text !== undefined && MARK.test(text);
}

export function journalLine(mark: string, event: JournalEvent): string {
  return `${mark} ${JSON.stringify(event)}\n`;
}

export interface JournalLineParts {
  /** The event, if the line has one that can be read. */
  readonly event?: JournalEvent;
  /** The text of the line that is not the journal's; undefined if there is none. */
  readonly text?: string;
}

/** Separates the event on a line of stderr from what the program itself wrote before it on the same line. */
export function readJournalLine(mark: string, line: string): JournalLineParts {
  const at = line.indexOf(`${mark} {`);
  if (at === -1) return { text: line };
  const event = line.length - at > MAX_LINE ? undefined : readEvent(line.slice(at + mark.length + 1));
  return { ...(event && { event }), ...(at > 0 && { text: line.slice(0, at) }) };
}

function readEvent(json: string): JournalEvent | undefined {
  const event = tryParseObject(json);
  if (event === undefined) return undefined;
  const { story, run, kind, key, cell, value, idempotencyKey, ms, warning } = event;
  const isEvent =
    [story, run].every(Number.isSafeInteger) &&
    typeof key === 'string' &&
    [value, idempotencyKey, warning].every((text) => text === undefined || typeof text === 'string') &&
    (ms === undefined || typeof ms === 'number') &&
    KINDS.includes(kind as string) &&
    CELLS.includes(cell as string);
  return isEvent ? (event as unknown as JournalEvent) : undefined;
}
