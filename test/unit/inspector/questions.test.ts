import { describe, expect, it } from 'vitest';
import { counts, fileProblem, riskyTools } from '../../../inspector/places/tapes/replay.js';
import { stepsOf, taskGroups } from '../../../inspector/places/tasks/task-groups.js';
import { accepted, asJson, fieldErrors } from '../../../inspector/questions/answers/answers.js';
import { givenBefore, matching } from '../../../inspector/questions/answers/earlier-answers.js';
import { onlyYesOrNo } from '../../../inspector/questions/answers/yes-or-no.js';
import type { CatalogView } from '../../../src/inspector/contract/connection.js';
import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';

const schema: JsonObject = {
  type: 'object',
  properties: { size: { type: 'string', enum: ['small', 'large'] }, note: { type: 'string' } },
  required: ['size'],
};

function question(parts: Partial<QuestionView>): QuestionView {
  return { id: 'q', round: 1, kind: 'form', at: 0, message: 'Which size?', schema, ...parts };
}

const draft = { remembers: false, isTried: false };

describe('the answer to a question', () => {
  it('accepts what fits the schema, and says beside its field what does not', () => {
    expect(accepted(question({}), { ...draft, value: { size: 'large' } })).toEqual({
      answer: { action: 'accept', content: { size: 'large' } },
    });
    const wrong = accepted(question({}), { ...draft, value: { size: 'huge' } });
    expect(wrong).toMatchObject({ problem: expect.any(String) });
    expect('fields' in wrong && [...wrong.fields.keys()]).toEqual(['/size']);
  });

  it('says that a field is missing only after the first try', () => {
    expect(fieldErrors(question({}), { ...draft, value: {} }).size).toBe(0);
    expect([...fieldErrors(question({}), { ...draft, value: {}, isTried: true }).keys()]).toEqual(['/size']);
  });

  it('takes the JSON editor as it was typed, and refuses what is not JSON', () => {
    expect(accepted(question({}), { ...draft, value: {}, json: '{"size":"small"}' })).toEqual({
      answer: { action: 'accept', content: { size: 'small' } },
    });
    expect(accepted(question({}), { ...draft, value: {}, json: '{"size":' })).toMatchObject({
      problem: expect.stringContaining('not JSON'),
    });
    expect(accepted(question({}), { ...draft, value: {}, json: '[]' })).toHaveProperty('problem');
  });

  it('is the message of a model for a request for sampling', () => {
    const sampling = question({ kind: 'sampling' });
    const reply = { text: 'Paris', model: ' me ', stopReason: 'endTurn' };
    const message = {
      role: 'assistant',
      content: { type: 'text', text: 'Paris' },
      model: 'me',
      stopReason: 'endTurn',
    };
    expect(accepted(sampling, { ...draft, value: reply })).toEqual({ answer: message });
    expect(JSON.parse(asJson(sampling, { ...draft, value: reply }))).toEqual(message);
    expect(accepted(sampling, { ...draft, value: { ...reply, text: '' } })).toHaveProperty('problem');
    expect(accepted(sampling, { ...draft, value: { ...reply, model: ' ' } })).toHaveProperty('problem');
  });

  it('can be chosen with y and n only if there is nothing else to say', () => {
    const sure = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] };
    expect(onlyYesOrNo(question({ schema: sure }))).toBe('sure');
    expect(onlyYesOrNo(question({}))).toBeUndefined();
    expect(onlyYesOrNo(question({ kind: 'url', schema: sure }))).toBeUndefined();
  });
});

describe('the answers of an earlier run', () => {
  const questions = [
    question({ key: 'pizza', round: 1, answer: { action: 'accept', content: { size: 'large' } } }),
    question({ id: 'r', key: 'sure', round: 2, answer: { action: 'decline' } }),
    question({ id: 's', key: 'late', round: 3 }),
  ];

  it('are those that the handler knew when a run began', () => {
    expect(givenBefore({ questions }, 1)).toEqual([]);
    expect(givenBefore({ questions }, 2).map(({ key }) => key)).toEqual(['pizza']);
    expect(givenBefore({ questions }, 9).map(({ key }) => key)).toEqual(['pizza', 'sure']);
  });

  it('are known by the journal where all questions have the same round, as in a session', () => {
    const inSession = questions.map((each) => ({ ...each, round: 1 }));
    const row = (key: string, cells: ('none' | 'asked' | 'known')[]) => ({
      kind: 'ask' as const,
      key,
      cells,
    });
    const journal = {
      hasSteps: true,
      runs: [{}, {}, {}],
      rows: [row('pizza', ['asked', 'known', 'known']), row('sure', ['none', 'asked', 'known'])],
    };
    const known = (run: number) => givenBefore({ questions: inSession, journal }, run).map(({ key }) => key);
    expect([known(1), known(2), known(3)]).toEqual([[], ['pizza'], ['pizza', 'sure']]);
  });

  it('fit a question with the same key, or with the same words where there are no keys', () => {
    const given = givenBefore({ questions }, 9);
    expect(matching(given, question({ key: 'sure', message: 'Other words?' }))).toBe(1);
    expect(matching(given, question({ key: 'new' }))).toBe(-1);
    expect(matching(given, question({ message: 'Which size?' }))).toBe(-1);
    const nameless = [{ kind: 'form' as const, message: 'Which size?', answer: {} }];
    expect(matching(nameless, question({ message: 'Which size?' }))).toBe(0);
    expect(matching(nameless, question({ kind: 'url', message: 'Which size?' }))).toBe(-1);
  });
});

describe('the tasks of a server', () => {
  const task = (
    id: number,
    status: 'working' | 'input_required' | 'completed',
    state: Story['state'],
  ): Story => ({
    id,
    run: id,
    connection: 'c',
    kind: 'task',
    title: 'bake',
    method: 'tools/call',
    at: id,
    state,
    serverMs: 0,
    youMs: 0,
    rounds: [],
    questions: [],
    ticks: [],
    droppedTicks: 0,
    isPinned: false,
    task: { id: `t${id}`, status, polls: 0 },
  });

  it('stand in the order in which they need the user, the newest first', () => {
    const groups = taskGroups([
      task(1, 'completed', 'ok'),
      task(2, 'working', 'running'),
      task(3, 'input_required', 'asks'),
      task(4, 'working', 'running'),
      task(5, 'working', 'error'),
    ]);
    expect(groups.map(({ name, tasks }) => [name, tasks.map(({ id }) => id)])).toEqual([
      ['Waiting for you', [3]],
      ['Running', [4, 2]],
      ['Ended', [5, 1]],
    ]);
    expect(taskGroups([])).toEqual([]);
  });

  it('name each step once, without its count', () => {
    const texts = ['0 of 5: Mixing', '0 of 5: Mixing', '1 of 5: Kneading', '2', 'Resting'];
    const ticks = texts.map((text) => ({ at: 0, kind: 'progress' as const, text }));
    expect(stepsOf({ ticks: [...ticks, { at: 0, kind: 'log', text: 'hot' }] })).toEqual([
      'Mixing',
      'Kneading',
      'Resting',
    ]);
  });
});

describe('a tape', () => {
  const call = (name: string, args = {}) => ({
    method: 'tools/call',
    name,
    params: { name, arguments: args },
    notifications: [],
    at: 0,
  });

  it('asks for every tool that is not known to be read-only, once', () => {
    const view = (name: string, isReadOnly: boolean) => ({ tool: { name }, isReadOnly });
    const catalog = { tools: [view('look', true), view('pay', false)] } as unknown as CatalogView;
    const tape = { id: 't', name: 't', calls: [call('look'), call('pay'), call('pay'), call('unknown')] };
    expect(riskyTools(tape, catalog)).toEqual(['pay', 'unknown']);
    expect(riskyTools(tape, undefined)).toEqual(['look', 'pay', 'unknown']);
  });

  it('asks for the tool in the arguments of call_tool, and for call_tool itself where the server has no search', () => {
    const view = (name: string) => ({ tool: { name }, isReadOnly: name === 'search_tools' });
    const searched = { tools: ['search_tools', 'call_tool'].map(view) } as unknown as CatalogView;
    const tape = { id: 't', name: 't', calls: [call('call_tool', { name: 'pay' })] };
    expect(riskyTools(tape, searched)).toEqual(['pay']);
    expect(riskyTools(tape, undefined)).toEqual(['call_tool', 'pay']);
  });

  it('counts what came out the same, differently and not at all', () => {
    const calls = (['same', 'different', 'same', 'skipped'] as const).map((result, at) => ({
      call: at,
      result,
    }));
    expect(counts({ calls })).toEqual({ same: 2, different: 1, skipped: 1 });
  });

  it('is not read from a file that is empty or too large', () => {
    expect(fileProblem({ name: 'a.json', size: 0 })).toBe('a.json is empty.');
    expect(fileProblem({ name: 'a.json', size: 50_000_000 })).toContain('50 MB');
    expect(fileProblem({ name: 'a.json', size: 500 })).toBeUndefined();
  });
});
