import { expect, test } from 'vitest';
import type { Effect, History, Observation, TransferRow } from './history.js';
import { type Violations, verify } from './verify.js';

// Forged histories: each promise of the kill test is broken once, and the violation must be found.

const Ada = 'Ada';
const pid = 1;

const step = (
  number: number,
  nonce: string,
  more: Partial<Extract<Effect, { kind: 'step' }>> = {},
): Effect => ({
  kind: 'step',
  job: 'bake',
  step: number,
  nonce,
  key: `run:${number}`,
  caller: Ada,
  pid,
  turn: number,
  ...more,
});
const answer = (more: Partial<Extract<Effect, { kind: 'answer' }>> = {}): Effect => ({
  kind: 'answer',
  question: 'bake sure',
  answer: 'bake sure',
  from: Ada,
  caller: Ada,
  pid,
  turn: 3,
  ...more,
});
const payment = (nonce: string, more: Partial<Extract<Effect, { kind: 'payment' }>> = {}): Effect => ({
  kind: 'payment',
  payment: 'rent',
  nonce,
  caller: Ada,
  pid,
  turn: 9,
  ...more,
});
const row = (number: number, nonce: string): TransferRow => ({ job: 'bake', step: number, nonce });

const task: Observation = { saw: 'task', job: 'bake', caller: Ada };
const job: Observation = {
  saw: 'job',
  job: 'bake',
  caller: Ada,
  result: { id: 'bake', caller: Ada, nonces: ['a', 'b'] },
};
const paid: Observation = {
  saw: 'payment',
  payment: 'rent',
  caller: Ada,
  result: { id: 'rent', caller: Ada, nonce: 'p' },
};
const subscribed: Observation = { saw: 'subscribed', topic: 'board', client: 'one' };
const announced = (version: number): Observation => ({ saw: 'announced', topic: 'board', version });
const read = (version: number): Observation => ({ saw: 'read', topic: 'board', client: 'one', version });
const stream = (progress: readonly number[], hasResult: boolean): Observation => ({
  saw: 'stream',
  call: 'slow',
  progress,
  total: 3,
  hasResult,
});

/** A history in which replicas die and everything is as promised. */
const good: History = {
  effects: [
    step(1, 'a'),
    // The first run of the second step was cut off.
    step(2, 'cut off'),
    { kind: 'struck', pid, signal: 'SIGKILL' },
    answer(),
    step(2, 'b', { pid: 2 }),
    payment('p', { pid: 2 }),
    payment('q', { pid: 2, caller: 'Grace' }),
  ],
  observations: [
    task,
    { saw: 'question', caller: Ada, to: Ada, question: 'bake sure' },
    job,
    paid,
    { saw: 'result', call: 'echo', caller: Ada, result: { id: 'echo', caller: Ada } },
    stream([1, 2, 3], true),
    // The process of this call has died, which the client was told.
    stream([1, 2], false),
    subscribed,
    announced(1),
    read(1),
    announced(2),
    read(3),
    { saw: 'intrusion', what: 'Grace has read the task of Ada', succeeded: false },
  ],
  rows: [row(1, 'a'), row(2, 'b')],
};

test('a history without violations passes', () => {
  expect(verify(good)).toEqual({
    lost: [],
    doubled: [],
    rekeyed: [],
    unheard: [],
    repeated: [],
    mixed: [],
    exposed: [],
  });
});

const effects = (...more: Effect[]): History => ({ ...good, effects: [...good.effects, ...more] });
const observations = (...more: Observation[]): History => ({
  ...good,
  observations: [...good.observations, ...more],
});
const without = (observation: Observation): History => ({
  ...good,
  observations: good.observations.filter((each) => each !== observation),
});
const rows = (...all: TransferRow[]): History => ({ ...good, rows: all });

test.each<[string, keyof Violations, History]>([
  ['a task that has not ended', 'lost', without(job)],
  [
    'a task that has failed',
    'lost',
    observations(
      { ...task, job: 'other' },
      { saw: 'failure', job: 'other', caller: Ada, reason: 'The task is not known' },
    ),
  ],
  ['a recorded step that ran again', 'doubled', effects(step(1, 'again'))],
  [
    'a recorded step that ran again in a process that was paused, but not in its first turn',
    'doubled',
    effects({ kind: 'resumed', pid: 3 }, answer({ pid: 3, turn: 6 }), step(1, 'again', { pid: 3, turn: 7 })),
  ],
  ['a result of a step that never ran', 'doubled', { ...good, effects: [step(1, 'a')] }],
  ['a payment that happened twice for one key', 'doubled', effects(payment('again'))],
  [
    'a payment with the result of another run',
    'doubled',
    { ...good, effects: [step(1, 'a'), step(2, 'b'), payment('other')] },
  ],
  ['a row that a step wrote twice', 'doubled', rows(row(1, 'a'), row(2, 'b'), row(2, 'c'))],
  ['a row that is missing', 'lost', rows(row(1, 'a'))],
  ['a row of a run whose result was not recorded', 'lost', rows(row(1, 'a'), row(2, 'cut off'))],
  [
    'a step that was cut off and ran again with another key',
    'rekeyed',
    { ...good, effects: [step(1, 'a'), step(2, 'cut off', { key: 'other' }), step(2, 'b'), payment('p')] },
  ],
  [
    'two steps with one key',
    'rekeyed',
    { ...good, effects: [step(1, 'a'), step(2, 'b', { key: 'run:1' }), payment('p')] },
  ],
  ['a stream without its last event', 'unheard', observations(stream([1, 2], true))],
  ['a stream of a failed call with a hole', 'unheard', observations(stream([1, 3], false))],
  ['an event that arrived twice', 'repeated', observations(stream([1, 2, 2, 3], true))],
  ['events in the wrong order', 'repeated', observations(stream([2, 1, 3], true))],
  ['a last change that a subscriber did not read', 'unheard', observations(announced(4))],
  [
    'a change that a subscriber read only with the next one',
    'unheard',
    observations(announced(4), announced(5), read(5)),
  ],
  [
    'a subscriber that reads nothing',
    'unheard',
    observations({ ...subscribed, client: 'two' }, announced(4), read(4)),
  ],
  ['an answer to another question', 'mixed', effects(answer({ answer: 'other sure' }))],
  [
    'a result of another call',
    'mixed',
    observations({ saw: 'result', call: 'echo', caller: Ada, result: { id: 'other', caller: Ada } }),
  ],
  ['an answer of another caller', 'exposed', effects(answer({ from: 'Grace' }))],
  [
    'a question that another caller was asked',
    'exposed',
    observations({ saw: 'question', caller: 'Grace', to: Ada, question: 'bake sure' }),
  ],
  [
    'a result for another caller',
    'exposed',
    observations({
      ...paid,
      payment: 'rent',
      caller: 'Grace',
      result: { id: 'rent', caller: Ada, nonce: 'q' },
    }),
  ],
  [
    'an intrusion that succeeded',
    'exposed',
    observations({ saw: 'intrusion', what: 'Grace has read the task of Ada', succeeded: true }),
  ],
])('%s is found', (_, kind, history) => {
  const found = Object.entries(verify(history)).filter(([, all]) => all.length > 0);
  expect(found.map(([name]) => name)).toEqual([kind]);
});

test('a step that a process had decided to begin when it was paused may run late', () => {
  const late = effects({ kind: 'resumed', pid: 3 }, step(1, 'late', { pid: 3, turn: 7 }));
  expect(verify(late).doubled).toEqual([]);
});
