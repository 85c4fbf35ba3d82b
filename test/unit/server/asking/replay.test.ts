import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { McpError } from '../../../../src/protocol/errors.js';
import { formQuestion } from '../../../../src/server/asking/question.js';
import { Replay } from '../../../../src/server/asking/replay.js';
import { NestedRun } from '../../../../src/server/asking/run.js';
import type { Suspender } from '../../../../src/server/asking/suspender.js';
import { signal } from '../../../support/signal.js';
import { until } from '../../../support/until.js';

const sure = () => formQuestion({ message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
const yes = { action: 'accept', content: { ok: true } };
const stop = new McpError('cancelled', 'Stop');

function makeSuspender(onStep?: Suspender['onStep']) {
  const onIdle = vi.fn();
  return { onIdle, ...(onStep && { onStep }) };
}

describe('a run with a journal', () => {
  test('ends for a reason: open questions, later questions and later steps throw it, and the first reason counts', async () => {
    const asking = new Replay(undefined, { suspender: makeSuspender() });
    const open = asking.ask('open', sure());
    expect(asking.reason).toBeUndefined();
    asking.end(stop);
    asking.end(new Error('Another'));
    asking.close();
    const work = vi.fn();
    await expect(open).rejects.toBe(stop);
    await expect(asking.ask('later', sure())).rejects.toBe(stop);
    await expect(asking.step('step', work)).rejects.toBe(stop);
    expect(work).not.toHaveBeenCalled();
    expect(asking.reason).toBeInstanceOf(Error);
    expect(asking.refusal).toBe(stop);
  });

  test('throws the reason also for a step that was recorded before', async () => {
    const asking = new Replay(undefined, { suspender: makeSuspender() });
    await asking.step('known', () => 1);
    const again = new Replay(asking.journal({ logCount: 0, lastProgress: undefined }));
    again.end(stop);
    await expect(again.step('known', () => 2)).rejects.toBe(stop);
  });

  test('lets the running step end and be recorded, but not the handler continue', async () => {
    const recording = signal();
    const record = vi.fn(() => recording.promise);
    const working = signal();
    const asking = new Replay(undefined, { suspender: makeSuspender(record) });
    const step = asking.step('step', async () => {
      await working.promise;
      return 'paid';
    });
    asking.end(stop);
    let idle = false;
    const resting = asking.idle().then(() => {
      idle = true;
    });
    working.give();
    await until('the step is recorded', () => record.mock.calls.length === 1);
    expect(idle).toBe(false);
    expect(asking.journal({ logCount: 0, lastProgress: undefined }).steps.get('step')).toBe('paid');
    recording.give();
    await expect(step).rejects.toBe(stop);
    await resting;
    expect(idle).toBe(true);
  });

  test('is idle at once if no step runs, and after a step has failed', async () => {
    const asking = new Replay(undefined, { suspender: makeSuspender() });
    await asking.idle();
    const failing = asking.step('fails', () => Promise.reject(new Error('no')));
    const idle = asking.idle();
    await expect(failing).rejects.toThrow('no');
    await idle;
  });

  test('is over when a step could not be recorded: the step throws the reason, and no other step begins', async () => {
    const full = new Error('The store is full');
    const record = vi.fn(() => Promise.reject(full));
    const asking = new Replay(undefined, { suspender: makeSuspender(record) });
    await expect(asking.step('a', () => 1)).rejects.toBe(full);
    const work = vi.fn();
    await expect(asking.step('b', work)).rejects.toBe(full);
    expect(work).not.toHaveBeenCalled();
    expect(asking.refusal).toBe(full);
    await asking.idle();
  });

  test('passes only a valid answer to the handler, and keeps it', async () => {
    const asking = new Replay(undefined, { suspender: makeSuspender() });
    const question = asking.ask('sure', sure());
    expect(asking.give('sure', 'nonsense')).toBe(false);
    expect(asking.open.size).toBe(1);
    expect(asking.give('sure', yes)).toBe(true);
    expect(asking.open.size).toBe(0);
    expect(asking.journal({ logCount: 0, lastProgress: undefined }).answers.get('sure')).toEqual(yes);
    expect(await question).toEqual(yes);
  });

  test('keeps an answer to a question of an earlier run until this run reaches the question', async () => {
    const before = new Replay(undefined, { suspender: makeSuspender() });
    void before.ask('sure', sure());
    const again = new Replay(before.journal({ logCount: 0, lastProgress: undefined }), {
      suspender: makeSuspender(),
    });
    expect(again.give('sure', yes)).toBe(true);
    expect(await again.ask('sure', sure())).toEqual(yes);
  });

  test('gives each addition to its journal once', async () => {
    const asking = new Replay(undefined, { suspender: makeSuspender() });
    expect(asking.takeNews()).toBeUndefined();
    await asking.step('a', () => 1);
    void asking.ask('sure', sure());
    expect(asking.takeNews()).toEqual({
      steps: [['a', 1]],
      keys: [
        ['a', ''],
        ['sure', expect.stringMatching(/./)],
      ],
      changes: [],
      parallel: false,
    });
    expect(asking.takeNews()).toBeUndefined();
    await asking.step('b', () => 2);
    expect(asking.takeNews()).toMatchObject({ steps: [['b', 2]], keys: [['b', '']], parallel: true });
  });

  test('waits before a step, and does not start the step if the run has ended meanwhile', async () => {
    const ready = signal();
    const asking = new Replay(undefined, {
      suspender: { onIdle: vi.fn(), beforeStep: () => ready.promise },
    });
    const work = vi.fn();
    const step = asking.step('a', work);
    asking.end(stop);
    ready.give();
    await expect(step).rejects.toBe(stop);
    expect(work).not.toHaveBeenCalled();
    await asking.idle();
  });
});

describe('the run of an inner call', () => {
  test('ends with the outer one, but the outer one does not end with it', async () => {
    const outer = new Replay(undefined, { suspender: makeSuspender() });
    const make = () => outer;
    const [one, two] = [
      new NestedRun({ find: make, make }, 'one/'),
      new NestedRun({ find: make, make }, 'two/'),
    ];
    const [first, second] = [one.ask('sure', sure()), two.ask('sure', sure())];
    expect([...outer.open.keys()]).toEqual(['one/sure', 'two/sure']);
    one.end(stop);
    await expect(first).rejects.toBe(stop);
    await expect(one.step('step', () => 1)).rejects.toBe(stop);
    expect([...outer.open.keys()]).toEqual(['two/sure']);
    expect(two.reason).toBeUndefined();
    const end = new Error('The end');
    outer.end(end);
    expect(two.reason).toBe(end);
    await expect(second).rejects.toBe(end);
    await expect(two.step('step', () => 1)).rejects.toBe(end);
  });

  test('does not get the value of its step after it is over', async () => {
    const working = signal();
    const outer = new Replay();
    const inner = new NestedRun({ find: () => outer, make: () => outer }, 'one/');
    const step = inner.step('step', () => working.promise);
    inner.end(stop);
    working.give();
    await expect(step).rejects.toBe(stop);
    expect(await outer.step('another', () => 1)).toBe(1);
  });
});
