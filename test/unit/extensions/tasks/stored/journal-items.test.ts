import { describe, expect, it } from 'vitest';
import { Inbox } from '../../../../../src/extensions/tasks/stored/inbox.js';
import {
  firstItem,
  newsItem,
  readJournalItems,
} from '../../../../../src/extensions/tasks/stored/journal-items.js';
import { newJournal } from '../../../../../src/server/asking/journal.js';

const call = { principal: '', tool: 't', args: {}, peer: {} as never };
const item = (at: number, value: object) => ({ at, name: String(at), value: { ...value } });
const answer = (round: number, at = round) =>
  item(at, { key: 'sure', round, response: `answer ${round}`, at: 0, by: 'client' });
const news = { steps: [], keys: [], changes: [], parallel: false };

function read(later: readonly object[], answers: readonly ReturnType<typeof item>[]) {
  const items = [firstItem(call, newJournal('run')), ...later].map((value, at) => item(at, value));
  return readJournalItems(items, new Inbox(answers)).journal;
}

const asked = (round: number, digest: string) =>
  newsItem({ ...news, keys: [['sure', digest]] }, [['sure', round, digest]]) as object;

describe('the journal of a task', () => {
  it('has the results of all items, and the answer to the question as it was last asked', () => {
    const step = newsItem(
      { ...news, steps: [['pay', 7]], keys: [['pay', '']], parallel: true },
      [],
    ) as object;
    const journal = read([step, asked(1, 'one')], [answer(1)]);
    expect([...journal.steps]).toEqual([['pay', 7]]);
    expect([...journal.keys]).toEqual([
      ['pay', ''],
      ['sure', 'one'],
    ]);
    expect([...journal.answers]).toEqual([['sure', 'answer 1']]);
    expect(journal).toMatchObject({ run: 'run', parallel: true });
  });

  it('has no answer to an earlier round of the question', () => {
    expect(read([asked(1, 'one'), asked(2, 'one')], [answer(1)]).answers.size).toBe(0);
    expect([...read([asked(1, 'one'), asked(2, 'one')], [answer(1), answer(2)]).answers.values()]).toEqual([
      'answer 2',
    ]);
  });

  it('has no answer to a question that was changed, even if the new one was not shown before the process ended', () => {
    const changed = newsItem({ ...news, steps: [['beside', 1]], keys: [['sure', 'two']] }, []) as object;
    expect(read([asked(1, 'one'), changed], [answer(1)]).answers.size).toBe(0);
  });

  it('is an error if its first item is missing', () => {
    expect(() => readJournalItems([], new Inbox())).toThrow(TypeError);
    expect(() => readJournalItems([item(0, { s: [] })], new Inbox())).toThrow(TypeError);
  });
});
