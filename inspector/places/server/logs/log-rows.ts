// The lines of a log that match, and those of them that are on the screen.

import type { LogLine } from '../../../../src/inspector/contract/message.js';

export interface LogFilter {
  readonly text: string;
  readonly source: LogLine['source'] | undefined;
}

/** The height of a line in pixels: all are the same, so that only those on the screen need to exist. */
export const LINE_HEIGHT = 24;
const BEFORE_AND_AFTER = 10;

export function matchingLines(lines: readonly LogLine[], { text, source }: LogFilter): readonly LogLine[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '' && source === undefined) return lines;
  return lines.filter(
    (line) =>
      (source === undefined || line.source === source) &&
      (wanted === '' ||
        line.text.toLowerCase().includes(wanted) ||
        line.logger?.toLowerCase().includes(wanted) === true ||
        line.level?.toLowerCase() === wanted),
  );
}

/** The places of the first line that exists and of the one after the last. */
export function windowOf(
  count: number,
  scrollTop: number,
  height: number,
): readonly [from: number, to: number] {
  const first = Math.floor(scrollTop / LINE_HEIGHT) - BEFORE_AND_AFTER;
  const last = Math.ceil((scrollTop + height) / LINE_HEIGHT) + BEFORE_AND_AFTER;
  return [Math.max(0, Math.min(first, count)), Math.max(0, Math.min(last, count))];
}

/** One line for people. */
export function lineText({ at, source, level, logger, text }: LogLine): string {
  const from = [source, level, logger].filter(Boolean).join(' ');
  return `${new Date(at).toISOString()} ${from}: ${text}`;
}
