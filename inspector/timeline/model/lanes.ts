// A story as the lines of a sequence diagram: the client's lane on the left, the server's on the right.

import type { QuestionView, Story, StoryRound, Tick } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { answerWords, outcomeWords, type StateTone, stateOf } from './words.js';

export type LaneRow =
  /** A line from the client to the server. */
  | {
      readonly type: 'right';
      readonly at: number;
      readonly text: string;
      readonly note: string;
      readonly ms?: number;
      readonly isStream?: boolean;
      readonly isAnswer?: boolean;
      readonly message?: number;
    }
  /** A line from the server to the client. */
  | {
      readonly type: 'left';
      readonly at: number;
      readonly text: string;
      readonly detail: string;
      readonly tone: StateTone;
      readonly ms?: number;
      readonly message?: number;
    }
  /** The user's time: hatched, and part of no duration. */
  | {
      readonly type: 'you';
      readonly at: number;
      readonly ms?: number;
      readonly detail: string;
      readonly isRemembered: boolean;
    }
  | { readonly type: 'ticks'; readonly at: number; readonly ticks: readonly Tick[]; readonly polls?: number }
  /** The growing edge of a story that is not over. */
  | { readonly type: 'going'; readonly at: number; readonly text: string; readonly isStream: boolean }
  | { readonly type: 'more'; readonly at: number; readonly count: number };

const TICKS_IN_ROW = 24;

/** The lines of a story, in the order of time. At most `limit`: then the last one says how many are left out. */
export function lanesOf(story: Story, limit = Number.POSITIVE_INFINITY): readonly LaneRow[] {
  const rows = [...roundRows(story), ...questionRows(story), ...tickRows(story), ...endRows(story)];
  const sorted = rows
    .map((row, index) => ({ row, index }))
    .sort((a, b) => a.row.at - b.row.at || rank(a.row) - rank(b.row) || a.index - b.index)
    .map(({ row }) => row);
  const joined = joinTicks(sorted, story.task?.polls);
  if (joined.length <= limit) return joined;
  const cut = joined.slice(0, limit - 1);
  return [...cut, { type: 'more', at: cut.at(-1)?.at ?? story.at, count: joined.length - cut.length }];
}

// Of things that happened in the same millisecond the reply comes first, then the user's time, then what was sent next.
function rank(row: LaneRow): number {
  return { left: 0, you: 1, right: 2, ticks: 3, going: 4, more: 5 }[row.type];
}

function roundRows(story: Story): LaneRow[] {
  const isMany = story.rounds.length > 1;
  const rows: LaneRow[] = [];
  for (const [index, round] of story.rounds.entries()) {
    const isLast = index === story.rounds.length - 1;
    const notes = [
      isMany ? `round ${index + 1}` : '',
      round.isRetry ? 'sent again' : '',
      ...stepsOf(story, index).map((key) => `● ${key}`),
    ];
    rows.push({
      type: 'right',
      at: round.at,
      text: cleanLine(story.title, 60),
      note: notes.filter(Boolean).join('  '),
      isStream: story.kind === 'subscription',
      ...(round.ms !== undefined && { ms: round.ms }),
      ...(round.request !== undefined && { message: round.request }),
    });
    if (round.ms === undefined || (story.task && isLast && round.outcome !== 'task')) continue;
    rows.push({
      type: 'left',
      at: round.at + round.ms,
      ...replyWords(story, round, index, isLast),
      ...(round.response !== undefined && { message: round.response }),
    });
  }
  return rows;
}

function replyWords(
  story: Story,
  round: StoryRound,
  index: number,
  isLast: boolean,
): { text: string; detail: string; tone: StateTone } {
  switch (round.outcome) {
    case 'asks': {
      const keys = story.questions.filter((question) => question.round === index + 1).map(questionName);
      return { text: `asks ${keys.join(', ')}`.trim(), detail: '', tone: 'ask' };
    }
    case 'task':
      return { text: 'started', detail: taskName(story), tone: 'running' };
    case 'cancelled':
      return { text: 'cancelled', detail: '', tone: 'off' };
    case 'error':
      return {
        text: isLast ? stateOf(story).word : 'error',
        detail: isLast ? outcomeWords(story) : '',
        tone: 'err',
      };
    default:
      if (!isLast) return { text: 'ok', detail: '', tone: 'ok' };
      return { text: stateOf(story).word, detail: outcomeWords(story), tone: stateOf(story).tone };
  }
}

function taskName({ task }: Story): string {
  return task ? `task ${cleanLine(task.id, 12)}` : '';
}

function questionName({ key, kind, message }: QuestionView): string {
  if (key !== undefined) return cleanLine(key, 40);
  return { form: cleanLine(message, 40), url: 'to open a link', sampling: 'the model', roots: 'for roots' }[
    kind
  ];
}

/** The steps that really ran in one run of the handler. */
function stepsOf({ journal }: Story, run: number): string[] {
  return (journal?.rows ?? [])
    .filter(({ kind, cells }) => kind === 'step' && cells[run] === 'ran')
    .map(({ key }) => cleanLine(key, 40));
}

/** Whether a question ended its round. In a session it is asked while the call continues. */
export function endsRound(story: Story, question: QuestionView): boolean {
  return story.rounds[question.round - 1]?.outcome === 'asks';
}

function questionRows(story: Story): LaneRow[] {
  const rows: LaneRow[] = [];
  const ended = new Map<number, QuestionView[]>();
  for (const question of story.questions) {
    if (endsRound(story, question)) {
      ended.set(question.round, [...(ended.get(question.round) ?? []), question]);
      continue;
    }
    rows.push({
      type: 'left',
      at: question.at,
      text: `asks ${questionName(question)}`,
      detail: '',
      tone: 'ask',
    });
    rows.push(yourTime([question]));
    if (question.answeredAt !== undefined)
      rows.push({ type: 'right', at: question.answeredAt, text: 'answer', note: '', isAnswer: true });
  }
  for (const [number, questions] of ended) {
    const round = story.rounds[number - 1];
    const row = yourTime(questions);
    // The two times are rounded apart; the reply is before the time that it begins.
    rows.push({ ...row, at: Math.max(row.at, (round?.at ?? 0) + (round?.ms ?? 0)) });
  }
  return rows;
}

function yourTime(questions: readonly QuestionView[]): LaneRow {
  const at = Math.min(...questions.map((question) => question.at));
  const isOpen = questions.some(({ answeredAt, gone }) => answeredAt === undefined && gone === undefined);
  const until = Math.max(at, ...questions.map(({ answeredAt }) => answeredAt ?? 0));
  return {
    type: 'you',
    at,
    detail: questions.map(answerWords).filter(Boolean).join(' · '),
    isRemembered: questions.length > 0 && questions.every(({ isRemembered }) => isRemembered),
    ...(!isOpen && { ms: until - at }),
  };
}

function tickRows(story: Story): LaneRow[] {
  return story.ticks.map((tick) => ({ type: 'ticks', at: tick.at, ticks: [tick] }));
}

/** Neighbouring ticks share a row; the number of polls stands in the last of them. */
function joinTicks(rows: readonly LaneRow[], polls: number | undefined): readonly LaneRow[] {
  const joined: LaneRow[] = [];
  for (const row of rows) {
    const last = joined.at(-1);
    if (row.type !== 'ticks' || last?.type !== 'ticks' || last.ticks.length >= TICKS_IN_ROW) joined.push(row);
    else joined[joined.length - 1] = { ...last, ticks: [...last.ticks, ...row.ticks] };
  }
  if (!polls) return joined;
  const place = joined.findLastIndex(({ type }) => type === 'ticks');
  const row = joined[place];
  if (row?.type === 'ticks') joined[place] = { ...row, polls };
  else {
    const end =
      joined.at(-1)?.type === 'left' || joined.at(-1)?.type === 'going' ? joined.length - 1 : joined.length;
    joined.splice(end, 0, { type: 'ticks', at: joined[end]?.at ?? 0, ticks: [], polls });
  }
  return joined;
}

function endRows(story: Story): LaneRow[] {
  if (story.state === 'running' || story.state === 'open')
    return [
      {
        type: 'going',
        at: Number.MAX_SAFE_INTEGER,
        text: story.state === 'open' ? 'listening' : progressWords(story),
        isStream: story.kind === 'subscription',
      },
    ];
  if (story.state === 'asks' || story.endedAt === undefined) return [];
  const last = story.rounds.at(-1);
  const isSaid = last?.ms !== undefined && last.outcome !== 'asks' && last.outcome !== 'task' && !story.task;
  if (isSaid) return [];
  if (story.kind === 'unsolicited') return [];
  return [
    {
      type: 'left',
      at: story.endedAt,
      text: stateOf(story).word,
      detail: outcomeWords(story),
      tone: stateOf(story).tone,
      ...(story.task && { ms: story.serverMs }),
      ...(story.task && last?.response !== undefined && { message: last.response }),
    },
  ];
}

/** As in `Baking, 3 of 5`. */
export function progressWords({ progress, task }: Pick<Story, 'progress' | 'task'>): string {
  if (!progress) return cleanLine(task?.statusMessage ?? '', 80);
  const { message, total } = progress;
  const count =
    total === undefined ? `${round(progress.progress)}` : `${round(progress.progress)} of ${round(total)}`;
  return message ? `${cleanLine(message, 80)}, ${count}` : count;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
