import { printError } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { Store } from '../../../state/store.js';
import { callEnded } from '../client-requests.js';
import type { StreamingCall } from '../shared/call-record.js';
import type { CallWatch } from '../shared/call-watch.js';
import type { AskedCall, FoundCall, PendingCalls } from '../shared/pending-calls.js';
import type { GuardedLog } from './guarded-log.js';
import type { ResumableStream } from './resumable-stream.js';
import { type CallSession, sendWithdrawal } from './session-questions.js';
import { openStream } from './session-reply.js';
import type { SessionTable } from './session-table.js';

// The ends of calls that do not end by themselves: cancelled, never answered, or left behind by a process that has died.

/** The members of a session that the end of a call needs. */
type EndingSession = Pick<CallSession, 'tag' | 'streams'>;

export interface CallEndingsParts {
  readonly pending: PendingCalls;
  readonly watch: CallWatch;
  readonly log: GuardedLog;
  readonly store: Store;
  readonly table: SessionTable;
  readonly askMs: number;
  /** Serves a request again that another process has begun to serve. */
  readonly serveAgain: (tag: string, running: StreamingCall, stream: ResumableStream) => Promise<void>;
}

/** The time within which an expired call is ended. */
const MARGIN_MS = 60_000;

/** Ends calls on behalf of whoever served them, so that no client waits forever. */
export class CallEndings {
  readonly #parts: CallEndingsParts;

  constructor(parts: CallEndingsParts) {
    this.#parts = parts;
  }

  /** Ends a call that waits for answers. False if it does not wait any more. */
  async endParked(live: EndingSession, call: string, reason?: McpError): Promise<boolean> {
    const { tag } = live;
    // Until the end is stored, the call is watched: if this process dies, another one ends it.
    const pending = await this.#parts.pending.withdraw(tag, call, (ended) =>
      ended.isHeld ? [] : [this.#parts.watch.ending(tag, ended)],
    );
    if (pending === undefined) return false;
    // A process that waits for the answers sees that they are no longer needed, and tells its client.
    if (!pending.isHeld) await this.#end(live, pending, reason);
    return true;
  }

  async #end(live: EndingSession, pending: AskedCall, reason: McpError | undefined): Promise<void> {
    const { watch, store } = this.#parts;
    const stream = this.streamOf(live, pending.stream);
    sendWithdrawal(stream, pending, { last: reason === undefined });
    if (reason !== undefined)
      stream.send(printError(pending.request.id, reason.toWire(pending.revision)), {
        last: true,
        keep: true,
      });
    await stream.stored();
    // If this fails, the call gets a second end, which nobody reads.
    await store.write([watch.unparked(live.tag, pending)]).catch(() => undefined);
  }

  /** Ends a call whose client has not answered in time, or whose end another process has begun. */
  async endExpired(tag: string, call: string, round: number): Promise<void> {
    const pending = await this.#parts.pending.get(tag, call);
    if (pending === undefined || pending.round !== round || pending.state === 'answered') return;
    if (pending.state === 'withdrawn') return this.#end(this.#sessionOf(tag), pending, callEnded());
    const reason = new McpError('timeout', `The client did not answer within ${this.#parts.askMs} ms.`);
    await this.endParked(this.#sessionOf(tag), call, reason);
  }

  /** Ends a call whose process has died, unless it can continue. */
  async endDead(tag: string, running: StreamingCall): Promise<void> {
    const found = running.asking && (await this.#parts.pending.find(tag, running.asking.call));
    if (found !== undefined && !found.pending.isHeld && found.pending.state !== 'withdrawn') {
      // The questions may not have been sent. If they were answered, or others are asked now, another process has the call.
      const isCurrent = found.pending.round === running.asking?.round;
      // Nor if they were answered here while this process was looking: the call that continues has the stream.
      const isContinued = this.#sessionOf(tag).streams.get(running.stream)?.isHeld === true;
      if (isCurrent && found.pending.state === 'open' && !isContinued)
        await this.#sendAgain(tag, found, this.#takeOver(tag, running));
      return;
    }
    // A process that withdrew its questions was about to end the call.
    const stream = this.#takeOver(tag, running);
    const withdrawn =
      found?.pending.isHeld && (await this.#parts.pending.withdraw(tag, found.pending.call, () => []));
    if (withdrawn) sendWithdrawal(stream, withdrawn);
    if (running.again !== undefined) return this.#parts.serveAgain(tag, running, stream);
    const reason = new McpError(
      'connection_closed',
      'The process that served the call has ended, so it is unknown what the call has done.',
    );
    const errors = running.ids.map((id) => printError(id, reason.toWire(running.revision)));
    stream.send(running.isBatch ? `[${errors.join(',')}]` : String(errors[0]), { last: true, keep: true });
    await stream.stored();
    if (!stream.isComplete) throw new Error('The end of a call could not be stored.');
  }

  #takeOver(tag: string, { stream: name }: StreamingCall): ResumableStream {
    return this.continueStream(this.#sessionOf(tag), name);
  }

  async #sendAgain(tag: string, { pending, expiresInMs }: FoundCall, stream: ResumableStream): Promise<void> {
    // No process ran for so long that the call would be forgotten before the watch over it could end it.
    if (expiresInMs < this.#parts.askMs + MARGIN_MS) return this.endExpired(tag, pending.call, pending.round);
    for (const { text } of pending.questions) stream.send(text, { keep: true });
    stream.follow();
    await stream.stored();
    await this.#parts.store.write([this.#parts.watch.parked(tag, pending)]);
  }

  #sessionOf(tag: string): EndingSession {
    return this.#parts.table.get(tag) ?? { tag, streams: new Map() };
  }

  /**
   * The stream of a call that this process takes over. If it had the call itself and was cut off from the store, it does not know
   * that yet, and must not end or write the stream under its earlier claim.
   */
  continueStream(live: Pick<CallSession, 'streams'>, name: string): ResumableStream {
    const old = live.streams.get(name);
    const stream = openStream(live, name, { log: this.#parts.log });
    if (old !== undefined) stream.succeed(old);
    return stream;
  }

  /** The stream of a call, as this process knows it or will know it. */
  streamOf(live: Pick<CallSession, 'streams'>, name: string): ResumableStream {
    return live.streams.get(name) ?? openStream(live, name, { log: this.#parts.log });
  }
}
