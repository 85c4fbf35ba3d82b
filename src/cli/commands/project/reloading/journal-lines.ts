// The journals of the processes that run the code, which they write to stderr for the inspector beside them.

import type { JournalEvent } from '../../../../inspector/contract/options.js';
import { newJournalMark, readJournalLine } from '../../../../inspector/journal/journal-line.js';

export interface JournalLines {
  readonly mark: string;
  /** Called with each event. */
  report: (event: JournalEvent) => void;
  /** Called with each other line. */
  written: (line: string) => void;
  /** Takes the event out of a line. Returns the rest of the line, if there is one. */
  readonly take: (line: string) => string | undefined;
}

/** The lines of all processes have the same mark. */
export function journalOf(): JournalLines {
  const mark = newJournalMark();
  const lines: JournalLines = {
    mark,
    report: () => undefined,
    written: () => undefined,
    take: (line) => {
      const { event, text } = readJournalLine(mark, line);
      if (event !== undefined) lines.report(event);
      if (text !== undefined) lines.written(text);
      return text;
    },
  };
  return lines;
}
