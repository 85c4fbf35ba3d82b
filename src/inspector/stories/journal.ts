// The journal of a call, as far as its messages show it: questions, answers and rounds. Steps travel sealed.

import type { JournalCell, JournalView } from '../contract/story.js';
import type { OpenQuestion } from './question.js';

const MAX_VALUE = 500;

/** The part of a story that its journal is made of. */
export interface Asked {
  readonly rounds: readonly {
    readonly ms?: number;
    readonly outcome?: string;
    readonly stateBytes?: number;
  }[];
  readonly questions: readonly OpenQuestion[];
}

/** The rows that questions alone show: each is asked in one run, and known in the runs after it. */
export function journalOfQuestions({ questions, rounds }: Asked): JournalView {
  const runs = rounds.map(({ ms, outcome }) => ({
    ...(ms !== undefined && { ms }),
    ...(outcome !== undefined && { outcome }),
  }));
  return {
    hasSteps: false,
    runs,
    rows: questions.map(({ asked, answer }) => ({
      kind: 'ask',
      key: asked.key ?? asked.message.slice(0, 100),
      cells: runs.map((_, at): JournalCell => {
        if (at + 1 === asked.round) return 'asked';
        return at + 1 > asked.round && answer !== undefined ? 'known' : 'none';
      }),
      ...(answer && { value: JSON.stringify(answer).slice(0, MAX_VALUE) }),
    })),
    ...stateOf(rounds),
  };
}

/** The journal that the handlers of the server report, with the size of the state that travels. */
export function withState(journal: JournalView, { rounds }: Pick<Asked, 'rounds'>): JournalView {
  return { ...journal, ...stateOf(rounds) };
}

function stateOf(rounds: Asked['rounds']): Pick<JournalView, 'stateBytes'> {
  const stateBytes = rounds.findLast((round) => round.stateBytes !== undefined)?.stateBytes;
  return stateBytes === undefined ? {} : { stateBytes };
}
