import { expect, onTestFinished, test, vi } from 'vitest';
import { CallEndings } from '../../../../../src/legacy/server/http/call-endings.js';
import { GuardedLog } from '../../../../../src/legacy/server/http/guarded-log.js';
import { ResumableStream } from '../../../../../src/legacy/server/http/resumable-stream.js';
import type { CallSession } from '../../../../../src/legacy/server/http/session-questions.js';
import type { SessionTable } from '../../../../../src/legacy/server/http/session-table.js';
import type { StreamingCall } from '../../../../../src/legacy/server/shared/call-record.js';
import { CallWatch } from '../../../../../src/legacy/server/shared/call-watch.js';
import { type AskedCall, PendingCalls } from '../../../../../src/legacy/server/shared/pending-calls.js';
import type { EventLog } from '../../../../../src/state/event-log.js';
import { memoryEventLog } from '../../../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';

const TAG = 'tag';
const CALL = 'c0ffee';
const STREAM = `${TAG}.p1`;
const askMs = 600_000;

/** Two processes: one has asked in the second round, and another finds records of processes that have died. */
async function asked(streams: CallSession['streams'] = new Map()) {
  const store = memoryStore();
  const log = memoryEventLog();
  const sent: string[] = [];
  const noted: EventLog = {
    append(stream, data, options) {
      sent.push(data);
      return log.append(stream, data, options);
    },
    follow: (...args) => log.follow(...args),
    drop: (stream) => log.drop(stream),
    close: () => log.close(),
  };
  const pending = new PendingCalls(store, { ttlMs: 2 * askMs + 600_000 });
  const watch = new CallWatch({
    ...{ store, server: 'test', isShared: true, askMs, warn: () => undefined },
    onDead: async () => undefined,
    onExpired: async () => undefined,
  });
  const endings = new CallEndings({
    ...{ pending, watch, store, askMs, log: new GuardedLog(noted) },
    table: { get: () => ({ tag: TAG, streams }) } as unknown as SessionTable,
    serveAgain: async () => undefined,
  });
  const question: AskedCall = {
    ...{ call: CALL, state: 'open', revision: '2025-11-25', round: 2, isHeld: false, stream: STREAM },
    request: { id: 1, method: 'tools/call', params: {} },
    questions: [{ id: `ask-${CALL}.1`, key: 'q', text: 'the question' }],
    elicitationIds: [],
    answers: [],
  };
  await pending.ask(TAG, question, undefined);
  const running: StreamingCall = { stream: STREAM, ids: [1], isBatch: false, revision: '2025-11-25' };
  return { endings, pending, running, sent, log: new GuardedLog(noted) };
}

test('the questions of a process that died are sent again', async () => {
  const { endings, running, sent } = await asked();
  await endings.endDead(TAG, { ...running, asking: { call: CALL, round: 2 } });
  expect(sent).toEqual(['the question']);
});

test('a record that a process left behind in an earlier round does not touch the questions of the present one', async () => {
  const { endings, pending, running, sent } = await asked();
  await endings.endDead(TAG, { ...running, asking: { call: CALL, round: 1 } });
  expect(sent).toEqual([]);
  expect((await pending.get(TAG, CALL))?.state).toBe('open');
});

test('questions that were answered here while a process looked at them are not sent again, and the call that continues keeps its stream', async () => {
  const streams: CallSession['streams'] = new Map();
  const { endings, running, sent, log } = await asked(streams);
  const claim = { isHeld: true, confirm: () => true };
  const stream = new ResumableStream(STREAM, { log });
  stream.own(claim);
  streams.set(STREAM, stream);
  const dead: StreamingCall = { ...running, asking: { call: CALL, round: 2 } };
  await endings.endDead(TAG, dead);
  expect([sent, streams.get(STREAM)]).toEqual([[], stream]);
  stream.send('the response', { last: true, keep: true });
  await stream.stored();
  expect([sent, stream.isComplete]).toEqual([['the response'], true]);

  // A call that has ended here, or that this process has lost, does not need its stream.
  const ended = new ResumableStream(STREAM, { log });
  ended.own({ ...claim, isHeld: false });
  streams.set(STREAM, ended);
  await endings.endDead(TAG, dead);
  expect(sent).toEqual(['the response', 'the question']);
});

test('the end of a call that cannot be stored is left to a later claim', async () => {
  const { endings, running } = await asked();
  vi.spyOn(GuardedLog.prototype, 'append').mockResolvedValue(undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const ending = endings.endDead(TAG, running);
  const end = expect(ending).rejects.toThrow('could not be stored');
  await vi.advanceTimersByTimeAsync(120_000);
  await end;
});
