import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { McpError } from '../../../../src/protocol/errors.js';
import { formQuestion } from '../../../../src/server/asking/question.js';
import { Replay, type Suspender } from '../../../../src/server/asking/replay.js';
import { NestedRun } from '../../../../src/server/asking/run.js';
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

  test('can reopen a question whose answer could not be stored, and accept another answer', async () => {
    const suspender = makeSuspender();
    const asking = new Replay(undefined, { suspender });
    const question = asking.ask('sure', sure());
    expect(asking.open.get('sure')?.answer('nonsense')).toBeUndefined();
    const first = asking.open.get('sure')?.answer(yes);
    expect(asking.open.size).toBe(0);
    first?.reopen();
    expect(asking.journal({ logCount: 0, lastProgress: undefined }).answers.size).toBe(0);
    await until('the run is idle again', () => suspender.onIdle.mock.calls.length > 0);
    asking.open.get('sure')?.answer(yes)?.proceed();
    expect(await question).toEqual(yes);
  });

  test('throws the reason for an accepted answer that was not delivered, as for an open question', async () => {
    const asking = new Replay(undefined, { suspender: makeSuspender() });
    const question = asking.ask('sure', sure());
    const acceptance = asking.open.get('sure')?.answer(yes);
    asking.end(stop);
    acceptance?.proceed();
    await expect(question).rejects.toBe(stop);
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
