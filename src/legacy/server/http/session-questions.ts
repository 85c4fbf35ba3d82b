import type { Lifetime } from '../../../async/lifetime.js';
import { unref } from '../../../async/unref.js';
import {
  type JsonObject,
  printNotification,
  printRequest,
  type RequestMessage,
} from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { StoreChange, Written } from '../../../state/store.js';
import { type ClientAnswers, callEnded, toQuestion, UnansweredRequest } from '../client-requests.js';
import type { AskedRound } from '../forward.js';
import type { CallRecord } from '../shared/call-record.js';
import type { CallWatch } from '../shared/call-watch.js';
import {
  type AskedCall,
  type PendingCalls,
  questionId,
  randomPart,
  toResumed,
  unanswered,
  type Watched,
} from '../shared/pending-calls.js';
import type { ResumableStream } from './resumable-stream.js';
import type { CallReply } from './session-reply.js';
import type { LiveSession } from './session-table.js';

// The questions of calls in sessions over HTTP. Any process can take the answers.

/** The members of a session that its calls need. */
export type CallSession = Pick<LiveSession, 'tag' | 'session' | 'calls' | 'streams' | 'usedAt' | 'isOver'>;

/** A call that asks its client. */
export interface AskingCall {
  readonly live: CallSession;
  readonly message: RequestMessage;
  readonly reply: CallReply;
  readonly lifetime: Lifetime;
}

export interface SessionQuestionsParts {
  readonly pending: PendingCalls;
  readonly watch: CallWatch;
}

// The bus wakes a process that waits for answers. If it lost the message, the process looks after this time.
const LOOK_MS = 1000;

/** Asks the clients of calls. */
export class SessionQuestions {
  readonly #parts: SessionQuestionsParts;
  readonly #waiting = new Map<string, () => void>();

  constructor(parts: SessionQuestionsParts) {
    this.#parts = parts;
  }

  /** Asks without waiting: the process that gets the last answer continues the call. */
  async park(asking: AskingCall, asked: AskedRound, call: string): Promise<void> {
    const stream = openOf(asking.reply);
    const parked: AskedCall = {
      ...newPending(asking, asked.requests, call),
      isHeld: false,
      stream: stream.name,
      round: asked.round,
      elicitationIds: asked.elicitationIds,
      requestState: asked.requestState,
    };
    const run = await this.#askWatched(asking, parked, stream);
    if (!(await this.#send(asking, parked, { stream, run }))) return;
    await stream.stored();
    await run?.end([this.#parts.watch.parked(asking.live.tag, parked)]);
  }

  /**
   * Asks in the care of other processes: if this one dies before the questions are in the event log, another one sends them. Returns
   * the record of the call; undefined if there are no others.
   */
  async #askWatched(
    { live: { tag }, message, reply, lifetime }: AskingCall,
    parked: AskedCall,
    stream: ResumableStream,
  ): Promise<CallRecord | undefined> {
    const { watch } = this.#parts;
    const { call, revision } = parked;
    const recorded = await reply.run;
    if (recorded !== undefined) {
      await this.#ask(tag, parked, { changes: [recorded.asking(parked)], guard: recorded.lease });
      return recorded;
    }
    // The store did not take the record when the call began to stream, or there are no other processes.
    const running = {
      stream: stream.name,
      ids: [message.id],
      isBatch: false,
      revision,
      asking: { call, round: parked.round },
    };
    const held = { tag, run: randomPart(), running, requestedAt: performance.now() };
    const changes = watch.claiming(tag, held.run, running) ?? [watch.parked(tag, parked)];
    const { lease } = await this.#ask(tag, parked, { changes });
    if (lease === undefined) return undefined;
    const lost = (): void => {
      stream.abandon();
      lifetime.end(takenOver());
    };
    const run = watch.keep({ ...held, lease }, { lost });
    stream.own(run);
    return run;
  }

  /** Sends the questions. False if another process has the call now. */
  async #send(
    { live: { tag }, lifetime }: AskingCall,
    parked: AskedCall,
    { stream, run }: { readonly stream: ResumableStream; readonly run: CallRecord | undefined },
  ): Promise<boolean> {
    const texts = lifetime.ended ? [] : parked.questions.map(({ text }) => text);
    if (run === undefined) {
      for (const text of texts) stream.send(text, { keep: true });
      return true;
    }
    // The process that continues the call appends its response to the log. A client that had the question before the log did could
    // answer so early that the response comes before the question, and whoever reads on from the question would miss it.
    const areStored = await Promise.all(texts.map((text) => stream.sendStored(text)));
    const isAsked = areStored.every((isStored) => isStored);
    // A call that has ended is cancelled, or another process asks its questions now.
    if (isAsked || (!lifetime.ended && !(await this.#withdrawParked(tag, parked, run)))) {
      stream.follow();
      return isAsked;
    }
    const sent = parked.questions.filter((_, at) => areStored[at] === true);
    sendWithdrawal(stream, { ...parked, questions: sent });
    return notStored(new Error('The event log did not store the question.'));
  }

  /** False if the client has answered already, or the call is left to another process. */
  async #withdrawParked(tag: string, parked: AskedCall, run: CallRecord): Promise<boolean> {
    const { pending, watch } = this.#parts;
    try {
      const unpark = (): StoreChange[] => [watch.unparked(tag, parked)];
      const options = { only: parked, guard: run.lease };
      return (await pending.withdraw(tag, parked.call, unpark, options)) !== undefined;
    } catch {
      // The client may have answered meanwhile. The process that finds the record sends the questions again if it has not.
      await run.release();
      return false;
    }
  }

  /** Asks and waits for the answers, which may arrive at any process. */
  async hold(asking: AskingCall, requests: JsonObject, signal: AbortSignal): Promise<ClientAnswers> {
    const { live, reply } = asking;
    const stream = openOf(reply);
    const call = randomPart();
    const held: AskedCall = { ...newPending(asking, requests, call), isHeld: true, stream: stream.name };
    if (signal.aborted) throw callEnded();
    const run = await reply.run;
    const watched = run && { changes: [run.asking(held)], guard: run.lease };
    await this.#ask(live.tag, held, watched);
    const withdraw = (): void => {
      sendWithdrawal(stream, held);
      this.wake(call);
    };
    signal.addEventListener('abort', withdraw, { once: true });
    for (const { text } of held.questions) stream.send(text, { keep: true });
    try {
      return await this.#answersOf(live.tag, held, { stream, signal });
    } finally {
      signal.removeEventListener('abort', withdraw);
      this.#waiting.delete(call);
      // An answer that comes too late is still taken, and ignored.
      await this.#close(live.tag, call).catch(() => undefined);
    }
  }

  async #close(tag: string, call: string): Promise<void> {
    const { pending } = this.#parts;
    const open = await pending.withdraw(tag, call, () => []);
    if (open === undefined) await pending.clear(tag, call);
  }

  async #ask(
    tag: string,
    asked: AskedCall,
    watched: Watched | undefined,
  ): Promise<Extract<Written, { ok: true }>> {
    const { pending, watch } = this.#parts;
    const written = await pending.ask(tag, asked, watched).catch((error: unknown) => {
      // A write that failed may still have been made, and questions that nobody asks would count as open. If another process has the
      // call by now, it asks them.
      const unpark = (open: AskedCall): StoreChange[] => (open.isHeld ? [] : [watch.unparked(tag, open)]);
      pending
        .withdraw(tag, asked.call, unpark, { only: asked, guard: watched?.guard })
        .catch(() => undefined);
      return notStored(error);
    });
    if (!written.ok) throw takenOver();
    return written;
  }

  async #answersOf(
    tag: string,
    held: AskedCall,
    { stream, signal }: { readonly stream: ResumableStream; readonly signal: AbortSignal },
  ): Promise<ClientAnswers> {
    for (;;) {
      const woken = this.#nextLook(held.call);
      if (signal.aborted) throw callEnded();
      const current = await this.#parts.pending.get(tag, held.call).catch(() => 'unavailable' as const);
      if (current === undefined || (current !== 'unavailable' && current.state === 'withdrawn')) {
        // The session has ended in another process. If this one knows, the client was told when the signal aborted.
        if (!signal.aborted) sendWithdrawal(stream, held);
        throw callEnded();
      }
      if (current !== 'unavailable' && current.state === 'answered') {
        if (current.failure === undefined) return toResumed(current);
        sendWithdrawal(stream, current);
        throw new UnansweredRequest(current.failure);
      }
      await woken;
    }
  }

  #nextLook(call: string): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      unref(timer);
      this.#waiting.set(call, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Lets a call that waits for answers look for them. */
  wake(call: string): void {
    this.#waiting.get(call)?.();
  }
}

/** Tells the client to stop asking its user. */
export function sendWithdrawal(
  stream: ResumableStream,
  pending: AskedCall,
  { last = false }: { readonly last?: boolean } = {},
): void {
  const open = unanswered(pending);
  for (const [at, { id }] of open.entries())
    stream.send(printNotification('notifications/cancelled', { requestId: id }), {
      keep: true,
      last: last && at === open.length - 1,
    });
}

function openOf(reply: CallReply): ResumableStream {
  if (reply.mayStream) return reply.open();
  throw new McpError(
    'invalid_request',
    'The client cannot be asked: its request does not accept text/event-stream.',
  );
}

function newPending({ live, message }: AskingCall, requests: JsonObject, call: string) {
  const { revision } = live.session;
  const questions = Object.entries(requests).map(([key, request]) => {
    const { method, params, elicitationId } = toQuestion(key, request, revision);
    const id = questionId(call);
    const text = printRequest(id, method, params);
    return { id, key, method, text, ...(elicitationId !== undefined && { elicitationId }) };
  });
  const { id, method, params } = message;
  return {
    call,
    state: 'open' as const,
    revision,
    request: { id, method, params },
    round: 1,
    elicitationIds: [],
    questions,
    answers: [],
  };
}

function notStored(error: unknown): never {
  if (McpError.is(error)) throw error;
  throw new McpError(
    'overloaded',
    'The client could not be asked, because the question could not be stored. Retry later.',
    {
      cause: error,
    },
  );
}

function takenOver(): McpError {
  return new McpError('connection_closed', 'Another process has taken over the call.');
}
