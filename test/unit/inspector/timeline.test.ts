import { describe, expect, it } from 'vitest';
import { layout, windowOf } from '../../../inspector/parts/list/layout.js';
import { fits } from '../../../inspector/timeline/model/filter.js';
import { valueWords } from '../../../inspector/timeline/model/journal-words.js';
import { lanesOf } from '../../../inspector/timeline/model/lanes.js';
import { itemsAfter, Search } from '../../../inspector/timeline/model/search.js';
import { answerWords, outcomeWords, yourTime } from '../../../inspector/timeline/model/words.js';
import type { MessageHead } from '../../../src/inspector/contract/message.js';
import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';

function story(parts: Partial<Story>): Story {
  return {
    id: 1,
    run: 1,
    connection: 'c',
    kind: 'tool',
    title: 'order_pizza',
    method: 'tools/call',
    at: 1000,
    state: 'ok',
    serverMs: 0,
    youMs: 0,
    rounds: [],
    questions: [],
    ticks: [],
    droppedTicks: 0,
    isPinned: false,
    ...parts,
  };
}

function question(parts: Partial<QuestionView>): QuestionView {
  return { id: 'q', key: 'pizza', round: 1, kind: 'form', at: 1060, message: 'What?', ...parts };
}

const accepted = { action: 'accept', content: { size: 'large', toppings: ['ham'] } };

describe('the lanes of a story', () => {
  it('draws the rounds of a call as one story, with the time of the user between them', () => {
    const rows = lanesOf(
      story({
        endedAt: 10_100,
        rounds: [
          { at: 1000, ms: 60, outcome: 'asks' },
          { at: 10_060, ms: 40, outcome: 'ok' },
        ],
        questions: [question({ answeredAt: 10_060, answer: accepted })],
        outcome: { content: [{ type: 'text', text: 'In oven 3' }] },
      }),
    );
    expect(rows.map(({ type }) => type)).toEqual(['right', 'left', 'you', 'right', 'left']);
    expect(rows[0]).toMatchObject({ text: 'order_pizza', note: 'round 1', ms: 60 });
    expect(rows[1]).toMatchObject({ text: 'asks pizza', tone: 'ask' });
    expect(rows[2]).toMatchObject({ ms: 9000, detail: 'size large · toppings ham' });
    expect(rows[4]).toMatchObject({ text: 'ok', detail: 'In oven 3', tone: 'ok' });
  });

  it('draws a question of a session inside its call, from the server to the client and back', () => {
    const rows = lanesOf(
      story({
        endedAt: 5000,
        rounds: [{ at: 1000, ms: 4000, outcome: 'ok' }],
        questions: [question({ at: 1500, answeredAt: 3000, answer: accepted })],
      }),
    );
    expect(rows.map(({ type }) => type)).toEqual(['right', 'left', 'you', 'right', 'left']);
    expect(rows[1]).toMatchObject({ text: 'asks pizza', tone: 'ask' });
    expect(rows[3]).toMatchObject({ text: 'answer', isAnswer: true });
  });

  it('joins notifications into one line and counts the polls of a task there', () => {
    const rows = lanesOf(
      story({
        kind: 'task',
        endedAt: 9000,
        serverMs: 8000,
        rounds: [{ at: 1000, ms: 20, outcome: 'task' }],
        ticks: [1, 2, 3].map((step) => ({
          at: 1000 + step * 500,
          kind: 'progress' as const,
          text: `${step}`,
        })),
        task: { id: 'f713e8fc-3372', status: 'completed', polls: 8 },
        outcome: { content: [{ type: 'text', text: 'A golden bread' }] },
      }),
    );
    expect(rows.map(({ type }) => type)).toEqual(['right', 'left', 'ticks', 'left']);
    expect(rows[1]).toMatchObject({ text: 'started' });
    expect(rows[2]).toMatchObject({ polls: 8, ticks: [{ text: '1' }, { text: '2' }, { text: '3' }] });
    expect(rows[3]).toMatchObject({ detail: 'A golden bread', ms: 8000 });
  });

  it('leaves a call that runs open at its end, and names the steps that ran in each round', () => {
    const rows = lanesOf(
      story({
        state: 'running',
        rounds: [{ at: 1000, ms: 5, outcome: 'asks' }, { at: 2000 }],
        progress: { progress: 3, total: 5, message: 'Baking' },
        journal: {
          hasSteps: true,
          runs: [{}, {}],
          rows: [{ kind: 'step', key: 'reserve', cells: ['none', 'ran'] }],
        },
      }),
    );
    expect(rows.at(-1)).toMatchObject({ type: 'going', text: 'Baking, 3 of 5' });
    expect(rows.filter(({ type }) => type === 'right').at(-1)).toMatchObject({ note: 'round 2  ● reserve' });
  });

  it('says how many lines it left out', () => {
    const rounds = Array.from({ length: 50 }, (_, at) => ({ at: at * 10, ms: 1, outcome: 'ok' as const }));
    const rows = lanesOf(story({ rounds, endedAt: 1000 }), 40);
    expect(rows).toHaveLength(40);
    expect(rows.at(-1)).toMatchObject({ type: 'more', count: 61 });
  });

  it('shows invisible characters of a server instead of obeying them', () => {
    const [row] = lanesOf(story({ title: 'pay\u202eknab', rounds: [{ at: 1 }] }));
    expect(row).toMatchObject({ text: 'pay\\u{202e}knab' });
  });
});

describe('the words of a story', () => {
  it('tells an answer by its fields, a refusal by its name', () => {
    expect(answerWords({ kind: 'form', answer: accepted })).toBe('size large · toppings ham');
    expect(answerWords({ kind: 'form', answer: { action: 'decline' } })).toBe('declined');
    expect(answerWords({ kind: 'url', answer: { action: 'cancel' } })).toBe('dismissed');
    expect(
      answerWords({
        kind: 'sampling',
        answer: { role: 'assistant', content: { type: 'text', text: 'Paris' } },
      }),
    ).toBe('replied: Paris');
    expect(answerWords({ kind: 'roots', answer: { roots: [{ uri: 'file:///a' }] } })).toBe('1 root');
  });

  it('tells an outcome by its error, its first text, or what it lists', () => {
    expect(outcomeWords(story({ error: { code: 'x', message: 'Nothing listens.' } }))).toBe(
      'Nothing listens.',
    );
    expect(outcomeWords(story({ outcome: { tools: [{}, {}] } }))).toBe('2 tools');
    expect(outcomeWords(story({ outcome: { structuredContent: { total: 7 } } }))).toBe('{"total":7}');
  });

  it('counts the time of the user once where questions overlap', () => {
    const questions = [question({ at: 100, answeredAt: 500 }), question({ at: 200, answeredAt: 400 })];
    expect(yourTime({ questions }, 9999)).toBe(400);
    expect(yourTime({ questions: [...questions, question({ at: 1000 })] }, 1500)).toBe(900);
  });

  it('shows the values of a journal without their envelopes, and shortened ones as they are', () => {
    expect(valueWords({ kind: 'ask', value: JSON.stringify(accepted) })).toBe(
      '{"size":"large","toppings":["ham"]}',
    );
    expect(valueWords({ kind: 'ask', value: '{"action":"decline"}' })).toBe('declined');
    expect(valueWords({ kind: 'ask', value: '{"action":"acc' })).toBe('{"action":"acc');
    expect(valueWords({ kind: 'return', value: '{"content":[{"type":"text","text":"done"}]}' })).toBe(
      '"done"',
    );
    expect(valueWords({ kind: 'step', value: '{"action":"decline"}' })).toBe('{"action":"decline"}');
  });
});

describe('the filters of the timeline', () => {
  it('finds a tool that runs as a task among the tools and among the tasks', () => {
    const task = story({ task: { id: 't', status: 'working', polls: 0 }, state: 'running' });
    expect(fits(task, 'calls', 'any')).toBe(true);
    expect(fits(task, 'tasks', 'going')).toBe(true);
    expect(fits(task, 'prompts', 'any')).toBe(false);
    expect(fits(task, 'all', 'ok')).toBe(false);
    expect(fits(story({ isPinned: true }), 'all', 'pinned')).toBe(true);
    expect(fits(story({ state: 'tool-error' }), 'all', 'failed')).toBe(true);
  });
});

describe('the layout of a long list', () => {
  it('finds rows by their height among rows that are taller', () => {
    const rows = layout(
      10_000,
      28,
      new Map([
        [2, 128],
        [5000, 228],
      ]),
    );
    expect(rows.height).toBe(10_000 * 28 + 100 + 200);
    expect([rows.topOf(2), rows.topOf(3), rows.topOf(5001)]).toEqual([56, 184, 5001 * 28 + 300]);
    expect([rows.rowAt(0), rows.rowAt(183), rows.rowAt(184), rows.rowAt(1e9)]).toEqual([0, 2, 3, 9999]);
    for (const index of [0, 1, 2, 3, 4999, 5000, 5001, 9999])
      expect(rows.rowAt(rows.topOf(index))).toBe(index);
  });

  it('gives the window of rows that can be seen, and none of an empty list', () => {
    const rows = layout(1000, 10, new Map());
    expect(windowOf(rows, { top: 500, height: 100, more: 20 })).toEqual({ start: 48, end: 63 });
    expect(windowOf(layout(0, 10, new Map()), { top: 0, height: 100, more: 20 })).toEqual({
      start: 0,
      end: 0,
    });
  });
});

describe('the search in the timeline', () => {
  const head = (seq: number, preview: string, owner?: number): MessageHead => ({
    seq,
    connection: 'c',
    at: seq,
    from: 'client',
    kind: 'request',
    bytes: 1,
    preview,
    ...(owner !== undefined && { story: owner }),
  });

  it('pauses between slices, looks at each message once, and finds the story of a message', async () => {
    let pauses = 0;
    let time = 0;
    const clock = { now: () => (time += 5), pause: async () => void pauses++ };
    const search = new Search('NeeDLE77', clock);
    const messages = Array.from({ length: 1000 }, (_, seq) => head(seq, `needle${seq} in hay`, seq % 10));
    expect(await search.lookAt([story({ id: 3 })], messages)).toBe(true);
    expect([...search.messages]).toEqual([77, 770, 771, 772, 773, 774, 775, 776, 777, 778, 779]);
    expect(search.stories.has(7)).toBe(true);
    expect(pauses).toBeGreaterThan(2);
    await search.lookAt(
      [story({ id: 3 }), story({ id: 4, title: 'needle77' })],
      [...messages, head(1000, 'NEEDLE77')],
    );
    expect(search.messages.size).toBe(12);
    expect(search.stories.has(4)).toBe(true);
  });

  it('stops when another search begins', async () => {
    const search = new Search('a', { now: () => Date.now() * 1000, pause: async () => search.stop() });
    const messages = Array.from({ length: 2000 }, (_, seq) => head(seq, 'a'));
    expect(await search.lookAt([], messages)).toBe(false);
    expect(search.messages.size).toBeLessThan(2000);
  });

  it('finds the end of a list after a number', () => {
    expect(itemsAfter([1, 3, 5], 3, (each) => each)).toEqual([5]);
    expect(itemsAfter([1, 3, 5], 4, (each) => each)).toEqual([5]);
    expect(itemsAfter([1, 3, 5], 0, (each) => each)).toEqual([1, 3, 5]);
    expect(itemsAfter([], 4, (each: number) => each)).toEqual([]);
  });
});
