import { Lifetime } from '../../../async/lifetime.js';
import type { RequestId, RequestMessage } from '../../../jsonrpc/message.js';
import type { Dispatch } from '../../../protocol/call.js';
import type { Caller } from '../../../protocol/caller.js';
import { cancelledByClient, McpError } from '../../../protocol/errors.js';
import type { Store } from '../../../state/store.js';
import type { InFlight } from '../../../transports/http/server/in-flight.js';
import { callerOf, type Incoming } from '../../../transports/http/server/incoming.js';
import { callEnded } from '../client-requests.js';
import { Session } from '../session.js';
import type { CallRecord, HeldRun, StreamingCall } from '../shared/call-record.js';
import { CallWatch } from '../shared/call-watch.js';
import {
  type AskedCall,
  type ClientAnswer,
  PendingCalls,
  randomPart,
  runningOf,
  toResumed,
} from '../shared/pending-calls.js';
import type { SessionDirectory } from '../shared/session-directory.js';
import { CallEndings } from './call-endings.js';
import type { GuardedLog } from './guarded-log.js';
import type { ResumableStream } from './resumable-stream.js';
import { type CallSession, SessionQuestions, sendWithdrawal } from './session-questions.js';
import { type CallReply, replyOn, tooLarge } from './session-reply.js';
import { type Respond, type ServeRequest, sessionRequests } from './session-request.js';
import type { LiveSession, SessionTable } from './session-table.js';

// The calls of sessions over HTTP: running here, running elsewhere, or waiting for answers.

export interface SessionCallsParts {
  readonly dispatch: Dispatch;
  readonly inFlight: InFlight;
  readonly log: GuardedLog;
  readonly store: Store;
  readonly directory: SessionDirectory;
  readonly table: SessionTable;
  readonly server: string;
  readonly askMs: number;
  readonly leaseMs: number | undefined;
  readonly warn: (message: string) => void;
}

/** A request that arrived by POST, and its reply. */
export interface PostedRequest {
  readonly message: RequestMessage;
  readonly incoming: Incoming;
  readonly reply: CallReply;
  readonly respond: Respond;
  readonly isBatch: boolean;
}

/** The parts with which an answered call continues. */
interface Continuation {
  readonly caller: Caller;
  readonly stream: ResumableStream;
  readonly lifetime: Lifetime;
  readonly run: CallRecord | undefined;
}

/** Serves the calls of sessions, continues those that were answered, and ends those that cannot continue. */
export class SessionCalls {
  readonly #parts: SessionCallsParts;
  readonly #pending: PendingCalls;
  readonly #watch: CallWatch;
  readonly #questions: SessionQuestions;
  readonly #endings: CallEndings;
  readonly #serve: ServeRequest;
  /** The calls that another process can simply serve again. */
  readonly #repeatable = new Map<ResumableStream, { readonly run: CallRecord; readonly end: () => void }>();

  constructor(parts: SessionCallsParts) {
    const { store, directory, askMs } = parts;
    this.#parts = parts;
    // Longer than the watch over the call, which reads it.
    this.#pending = new PendingCalls(store, { ttlMs: 2 * askMs + 600_000 });
    this.#watch = new CallWatch({
      ...parts,
      isShared: directory.isShared,
      onDead: (tag, running) => this.#endings.endDead(tag, running),
      onExpired: (tag, call, round) => this.#endings.endExpired(tag, call, round),
    });
    this.#questions = new SessionQuestions({ pending: this.#pending, watch: this.#watch });
    this.#endings = new CallEndings({
      ...parts,
      pending: this.#pending,
      watch: this.#watch,
      serveAgain: (tag, running, stream) => this.#serveAgain(tag, running, stream),
    });
    this.#serve = sessionRequests(parts);
    directory.topic.subscribe({
      message: (message) => {
        if (message.do === 'answered') this.#questions.wake(message.call);
      },
      gap: () => undefined,
    });
  }

  /** Watches over the calls of other processes. */
  start(): void {
    this.#watch.start();
  }

  /** Serves a request; never rejects. */
  serve(live: LiveSession, { message, incoming, reply, respond, isBatch }: PostedRequest): Promise<unknown> {
    let call: string | undefined;
    const lifetime = new Lifetime();
    return this.#serve(live, message, {
      caller: callerOf(incoming),
      reply,
      respond,
      lifetime,
      ask: (requests, signal) => this.#questions.hold({ live, message, reply, lifetime }, requests, signal),
      // The responses to a batch are collected in this process.
      park: isBatch
        ? undefined
        : (asked) => {
            call = randomPart();
            return this.#questions.park({ live, message, reply, lifetime }, asked, call);
          },
      onParked: () => this.#checkParked(live, call ?? '', lifetime),
    });
  }

  /** Records a call that has begun to stream, so that its client does not wait for a process that has died. Undefined if there is only this process. */
  record(
    { tag, session, calls }: CallSession,
    stream: ResumableStream,
    running: Pick<StreamingCall, 'ids' | 'isBatch' | 'again'>,
  ): Promise<CallRecord | undefined> | undefined {
    // The process may take over its own call later, which has the same id then.
    const known = running.ids.map((id) => calls.get(id));
    const endCalls = (reason: McpError): void => {
      for (const [at, id] of running.ids.entries()) (known[at] ?? calls.get(id))?.end(reason);
    };
    const end = (): void => {
      stream.abandon();
      endCalls(new McpError('connection_closed', 'Another process has taken over the call.'));
    };
    // A call that another process can serve again is left to it.
    const overdue = (): void => {
      if (running.again !== undefined) return;
      endCalls(new McpError('overloaded', 'The store did not respond, and the call was ended. Retry later.'));
    };
    const record = { ...running, stream: stream.name, revision: session.revision };
    const ended = (): void => void this.#repeatable.delete(stream);
    return this.#watch.begin(tag, record, { lost: end, overdue, ended })?.then((run) => {
      if (run !== undefined && running.again !== undefined) this.#repeatable.set(stream, { run, end });
      return run;
    });
  }

  /** Takes the client's answer to a question. False if nobody asked the question. */
  async receive(live: LiveSession, message: ClientAnswer, incoming: Incoming): Promise<boolean> {
    const { tag } = live;
    const run = randomPart();
    const requestedAt = performance.now();
    const answered = await this.#pending.answer(tag, message, (pending) => [
      this.#watch.unparked(tag, pending),
      ...(this.#watch.claiming(tag, run, runningOf(pending)) ?? []),
    ]);
    if (answered.is === 'taken' && answered.wakes !== undefined)
      this.#parts.directory.topic.publish({ do: 'answered', session: tag, call: answered.wakes });
    if (answered.is === 'complete') {
      const { pending, lease } = answered;
      const held = lease && { tag, run, running: runningOf(pending), lease, requestedAt };
      const work = this.#continue(live, pending, this.#takeUp(live, pending, { held, incoming }));
      const done = work.catch(this.#report);
      incoming.waitUntil?.(done);
    }
    return answered.is !== 'unknown';
  }

  /** Prepares to continue an answered call. */
  #takeUp(
    live: LiveSession,
    { stream: name }: AskedCall,
    { held, incoming }: { readonly held: HeldRun | undefined; readonly incoming: Incoming },
  ): Continuation {
    const lifetime = new Lifetime();
    const stream = held ? this.#endings.continueStream(live, name) : this.#endings.streamOf(live, name);
    const lost = (): void => {
      stream.abandon();
      lifetime.end(callEnded());
    };
    return { caller: callerOf(incoming), stream, lifetime, run: held && this.#watch.keep(held, { lost }) };
  }

  async #continue(
    live: LiveSession,
    pending: AskedCall,
    { caller, stream, lifetime, run }: Continuation,
  ): Promise<void> {
    const { call, request } = pending;
    const { tag } = live;
    if (pending.failure !== undefined) sendWithdrawal(stream, pending);
    const message: RequestMessage = { kind: 'request', ...request };
    const reply = replyOn(live.session.revision, stream, run);
    const isDone = await this.#serve(live, message, {
      caller,
      reply,
      respond: (text) => stream.send(text, { last: true, keep: true, instead: tooLarge([request.id]) }),
      resumed: toResumed(pending),
      lifetime,
      park: (asked) => this.#questions.park({ live, message, reply, lifetime }, asked, call),
      onParked: () => this.#checkParked(live, call, lifetime),
    });
    if (!isDone) return;
    const forget = this.#pending.forget(tag, call);
    if (run !== undefined) await run.end([forget]);
    else await this.#parts.store.write([forget]).catch(() => undefined);
  }

  /** Ends a call that has asked its client if it, or its session, has ended meanwhile. */
  async #checkParked(live: LiveSession, call: string, lifetime: Lifetime): Promise<void> {
    // Another process that ends the session looks for its questions after it has stored the end, and may look before this one is stored.
    if (lifetime.ended || (await this.#parts.directory.isOver(live)))
      await this.#endings.endParked(live, call, callEnded());
  }

  /** Cancels a call, wherever it runs or waits. */
  async cancel(live: LiveSession, id: RequestId, reason: unknown): Promise<void> {
    const error = cancelledByClient(reason);
    const running = live.calls.get(id);
    if (running !== undefined) return running.end(error);
    const parked = (await this.#asked(live)).find(({ request, isHeld }) => request.id === id && !isHeld);
    if (parked !== undefined && (await this.#endings.endParked(live, parked.call, callEnded()))) return;
    this.#parts.directory.topic.publish({
      ...{ do: 'cancel', session: live.tag, id },
      ...(typeof error.cause === 'string' && { reason: error.cause }),
    });
  }

  /** Withdraws all questions of a session that ends. Its calls get no response. */
  async withdrawAll(live: LiveSession): Promise<void> {
    const asked = await this.#asked(live);
    await Promise.all(asked.map(({ call }) => this.#endings.endParked(live, call)));
  }

  // A store in memory looks at all its keys, and clients delete sessions and cancel calls that have ended. Without other processes, a
  // call that waits has a stream here.
  async #asked({ tag, streams }: CallSession): Promise<readonly AskedCall[]> {
    return streams.size > 0 || this.#parts.directory.isShared ? this.#pending.open(tag) : [];
  }

  /** Ends the calls that no other process can continue, and gives away those that another process can serve again. */
  async close(sessions: Iterable<LiveSession>): Promise<void> {
    this.#watch.close();
    const left = this.#parts.directory.isShared ? [] : [...sessions];
    const given = [...this.#repeatable.values()].map(async ({ run, end }) => {
      end();
      await run.release();
    });
    const reason = new McpError('connection_closed', 'The server is shutting down.');
    await Promise.all([...given, ...left.map((live) => this.#endParked(live, reason))]);
  }

  async #endParked(live: LiveSession, reason: McpError): Promise<void> {
    const parked = (await this.#asked(live)).filter(({ isHeld }) => !isHeld);
    await Promise.all(parked.map(({ call }) => this.#endings.endParked(live, call, reason)));
  }

  async #serveAgain(
    tag: string,
    { ids, isBatch, again }: StreamingCall,
    stream: ResumableStream,
  ): Promise<void> {
    if (again === undefined) return;
    const { request, handshake, auth } = again;
    const live: CallSession = {
      tag,
      session: new Session(handshake, this.#parts.dispatch),
      calls: new Map(),
      streams: new Map(),
      usedAt: 0,
      isOver: false,
    };
    const run = await this.record(live, stream, { ids, isBatch, again });
    if (run === undefined) {
      // The earlier record stays, and with it the call is found again. Without either, nobody would serve it if this process died.
      stream.abandon();
      throw new Error('A call of another process could not be recorded. It is claimed again later.');
    }
    const message: RequestMessage = { kind: 'request', ...request };
    const reply = replyOn(live.session.revision, stream, run);
    const lifetime = new Lifetime();
    // Not awaited: the call may take as long as its task.
    void this.#serve(live, message, {
      caller: { auth, http: undefined },
      reply,
      respond: (text) => stream.send(text, { last: true, keep: true, instead: tooLarge([request.id]) }),
      lifetime,
      ask: (requests, signal) => this.#questions.hold({ live, message, reply, lifetime }, requests, signal),
      onParked: async () => undefined,
    })
      .then(() => run.end())
      .catch(this.#report);
  }

  // Nobody waits for a call that is continued. Its lease ends, and another process ends the call.
  readonly #report = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    this.#parts.warn(`The end of a session's call could not be stored: ${reason}`);
  };
}
