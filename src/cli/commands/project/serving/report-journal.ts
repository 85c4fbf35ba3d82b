// Reports the runs of handlers to the inspector that started this process.

import process from 'node:process';
import { isJournalMark, JOURNAL_VARIABLE, journalLine } from '../../../../inspector/journal/journal-line.js';
import { listenToJournals } from '../../../../inspector/journal/listen-to-journals.js';

/** Writes journals to stderr if the process that started this one has asked for them. Programs that this one starts are not asked. */
export function reportJournal(): void {
  const mark = process.env[JOURNAL_VARIABLE];
  delete process.env[JOURNAL_VARIABLE];
  if (!isJournalMark(mark) || process.env['NODE_ENV'] === 'production') return;
  listenToJournals((event) => void process.stderr.write(journalLine(mark, event)));
}
