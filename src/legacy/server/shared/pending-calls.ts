import { withRetries } from '../../../async/with-retries.js';
import type { JsonObject, Message, RequestMessage } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { rejectionIn } from '../../../protocol/model/input.js';
import type { Revision } from '../../../protocol/tables/revisions.js';
import type { Lease, Store, StoreChange, StoreEntry, Written } from '../../../state/store.js';
import { MAX_OPEN, unansweredBecause } from '../client-requests.js';
import type { ResumedRound } from '../forward.js';
import type { StreamingCall } from './call-record.js';

// The calls that wait for answers of their clients, as all processes see them.

/** A question to the client. */
export interface PendingQuestion {
  readonly id: string;
  readonly key: string;
  /** The method of the request. Absent in calls of earlier versions. */
  readonly method?: string;
  /** The request, as it is sent to the client. */
  readonly text: string;
  readonly elicitationId?: string;
}

/** A call that has asked its client, and everything that it takes to continue it in any process. */
export interface AskedCall {
  /** Identifies the call among those of its session. */
  readonly call: string;
  readonly state: 'open' | 'answered' | 'withdrawn';
  /** Whether the process that asked waits for the answers. Otherwise the process that gets the last answer makes the call again. */
  readonly isHeld: boolean;
  readonly revision: Revision;
  readonly request: Pick<RequestMessage, 'id' | 'method' | 'params'>;
  /** The stream of the event log that the client reads. */
  readonly stream: string;
  readonly round: number;
  readonly elicitationIds: readonly string[];
  readonly requestState?: unknown;
  readonly questions: readonly PendingQuestion[];
  readonly answers: readonly { readonly id: string; readonly result: JsonObject }[];
  readonly failure?: string;
}

/** The response of a client to a question. */
export type ClientAnswer = Extract<Message, { kind: 'result' | 'error' }>;

/** The fate of an answer. */
export type Answered =
  /** Nobody asked this question, or its call has ended. */
  | { readonly is: 'unknown' }
  /** Taken, or no longer needed. `wakes` names a call whose process waits for exactly this answer. */
  | { readonly is: 'taken'; readonly wakes?: string }
  /** The last answer: the call is given to the process that took it. */
  | { readonly is: 'complete'; readonly pending: AskedCall; readonly lease: Lease | undefined };

/** A call that waits for answers, as the store has it. */
export interface FoundCall {
  readonly pending: AskedCall;
  readonly expiresInMs: number;
}

/** The changes that belong to a change of a pending call: those of the queue that watches it. */
export interface Watched {
  readonly changes?: readonly StoreChange[];
  readonly guard?: Lease | undefined;
}

/** The questions that are withdrawn. */
export interface WithdrawOptions {
  /** Only these questions: a call that was answered may have asked others since. Default: all that are open. */
  readonly only?: Pick<AskedCall, 'questions'>;
  /** The lease that must be held. Default: none. */
  readonly guard?: Lease | undefined;
}

const MAX_TRIES = 20;
/** An answer is stored again after the store failed. */
const RETRY = {
  baseMs: 100,
  maxMs: 2000,
  maxAttempts: 6,
  isFinal: (error: unknown) => McpError.is(error) || error instanceof RangeError,
};
const MAX_LENGTH = 8 * 1024 * 1024;
/** The time for which an answer to a question that was withdrawn is expected. */
const WITHDRAWN_MS = 300_000;
const COUNT_MS = 86_400_000;

/** A part of an id that cannot be guessed. */
export function randomPart(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 20);
}

/** An id of a question that leads to its call. */
export function questionId(call: string): string {
  return `ask-${call}.${crypto.randomUUID()}`;
}

/** The calls that wait for answers of their clients. */
export class PendingCalls {
  readonly #store: Store;
  /** The time until an entry is forgotten if nobody withdraws it. */
  readonly #ttlMs: number;

  constructor(store: Store, { ttlMs }: { readonly ttlMs: number }) {
    this.#store = store;
    this.#ttlMs = ttlMs;
  }

  /** Records a call with new questions. Not ok if the lease that guards the write is lost. */
  async ask(tag: string, pending: AskedCall, { changes = [], guard }: Watched = {}): Promise<Written> {
    const value = pending as unknown as JsonObject;
    const { length } = JSON.stringify(value);
    if (length > MAX_LENGTH)
      throw new McpError(
        'internal_error',
        `The call cannot ask its client: with its parameters and questions it has ${length} characters, and at most ${MAX_LENGTH} can be kept. Send smaller arguments.`,
      );
    const count = {
      do: 'count',
      key: countKey(tag),
      by: pending.questions.length,
      max: MAX_OPEN,
      ttlMs: COUNT_MS,
    } as const;
    const put = { do: 'put', key: callKey(tag, pending.call), value, ttlMs: this.#ttlMs } as const;
    const written = await this.#store.write([count, put, ...changes], guard && { guard });
    if (!written.ok && written.refusedBy === 0)
      throw new McpError('overloaded', `A session can have at most ${MAX_OPEN} open questions.`);
    return written;
  }

  /**
   * Takes an answer, once, whichever process gets it. Retries if the store fails: the user should not have to answer again. `watched`
   * makes the changes of the queue for a call that this process continues.
   */
  async answer(
    tag: string,
    message: ClientAnswer,
    watched: (pending: AskedCall) => readonly StoreChange[],
  ): Promise<Answered> {
    try {
      return await withRetries(() => this.#answer(tag, message, watched), RETRY);
    } catch (error) {
      throw McpError.is(error) ? error : answerNotStored(error);
    }
  }

  async #answer(
    tag: string,
    message: ClientAnswer,
    watched: (pending: AskedCall) => readonly StoreChange[],
  ): Promise<Answered> {
    const id = String(message.id);
    const call = callOf(id);
    if (call === undefined) return { is: 'unknown' };
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const entry = await this.#store.get(callKey(tag, call));
      const pending = entry && toPending(entry);
      if (entry === undefined || !pending?.questions.some((question) => question.id === id))
        return { is: 'unknown' };
      const isAnswered = pending.answers.some((answer) => answer.id === id);
      if (pending.state !== 'open' || isAnswered) return { is: 'taken' };
      const next = withAnswer(pending, id, message);
      const isComplete = next.state === 'answered';
      const written = await this.#store.write([
        put(tag, next, entry),
        ...(isComplete ? [uncount(tag, next), ...(next.isHeld ? [] : watched(next))] : []),
      ]);
      if (!written.ok) continue;
      if (!isComplete) return { is: 'taken' };
      return next.isHeld
        ? { is: 'taken', wakes: call }
        : { is: 'complete', pending: next, lease: written.lease };
    }
    throw answerNotStored();
  }

  /**
   * Withdraws the questions of a call. Returns the call as it was; undefined if it does not wait for these answers any more, or if the
   * guard is lost.
   */
  async withdraw(
    tag: string,
    call: string,
    watched: (pending: AskedCall) => readonly StoreChange[],
    { only, guard }: WithdrawOptions = {},
  ): Promise<AskedCall | undefined> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const entry = await this.#store.get(callKey(tag, call));
      const pending = entry && toPending(entry);
      if (entry === undefined || pending?.state !== 'open') return undefined;
      if (only !== undefined && pending.questions[0]?.id !== only.questions[0]?.id) return undefined;
      const written = await this.#store.write(
        [putWithdrawn(tag, pending, entry), uncount(tag, pending), ...watched(pending)],
        guard && { guard },
      );
      if (written.ok) return pending;
      if (written.refusedBy === 'guard') return undefined;
    }
    throw new McpError('overloaded', 'The call is being answered and cancelled by too many requests.');
  }

  /** Removes the answers of a call that has used them. A second answer, which comes late, is still taken and ignored. */
  async clear(tag: string, call: string): Promise<void> {
    const entry = await this.#store.get(callKey(tag, call));
    const pending = entry && toPending(entry);
    if (entry === undefined || pending?.state !== 'answered') return;
    await this.#store.write([putWithdrawn(tag, pending, entry)]);
  }

  async get(tag: string, call: string): Promise<AskedCall | undefined> {
    return (await this.find(tag, call))?.pending;
  }

  /** A call, and the time until it is forgotten. */
  async find(tag: string, call: string): Promise<FoundCall | undefined> {
    const entry = await this.#store.get(callKey(tag, call));
    return entry && { pending: toPending(entry), expiresInMs: entry.expiresInMs ?? this.#ttlMs };
  }

  /** The calls of a session that wait for answers. */
  async open(tag: string): Promise<readonly AskedCall[]> {
    // A call has at least one question, and withdrawn ones stay for a while.
    const entries = await this.#store.page(`asked:${tag}:`, { limit: 2 * MAX_OPEN });
    return entries.map(toPending).filter(({ state }) => state === 'open');
  }

  forget(tag: string, call: string): StoreChange {
    return { do: 'delete', key: callKey(tag, call) };
  }
}

/** The questions that the client need not answer any more. */
export function unanswered({ questions, answers }: AskedCall): readonly PendingQuestion[] {
  return questions.filter(({ id }) => !answers.some((answer) => answer.id === id));
}

/** The answers of a call that is continued. */
export function toResumed({
  round,
  elicitationIds,
  requestState,
  questions,
  answers,
  failure,
}: AskedCall): ResumedRound {
  const resultOf = (id: string): JsonObject | undefined => answers.find((answer) => answer.id === id)?.result;
  const accepted = questions.filter(({ id, elicitationId }) => {
    return elicitationId !== undefined && resultOf(id)?.['action'] === 'accept';
  });
  return {
    round,
    elicitationIds: [...elicitationIds, ...accepted.map(({ elicitationId }) => String(elicitationId))],
    requestState,
    answers: Object.fromEntries(questions.map(({ id, key }) => [key, resultOf(id)])) as JsonObject,
    failure,
  };
}

function answerNotStored(cause?: unknown): McpError {
  return new McpError('overloaded', 'The answer could not be stored. Send it again.', { cause });
}

// One failure ends the round: the other questions are withdrawn.
function withAnswer(pending: AskedCall, id: string, message: ClientAnswer): AskedCall {
  const { method = '' } = pending.questions.find((question) => question.id === id) ?? {};
  const rejection = message.kind === 'error' ? rejectionIn(method, message.error) : undefined;
  if (message.kind === 'error' && rejection === undefined)
    return {
      ...pending,
      state: 'answered',
      failure: unansweredBecause(message.error.message),
      answers: [...pending.answers, { id, result: {} }],
    };
  const result = rejection ?? (message as Extract<Message, { kind: 'result' }>).result;
  const answers = [...pending.answers, { id, result }];
  const state = answers.length === pending.questions.length ? 'answered' : 'open';
  return { ...pending, state, answers };
}

function put(tag: string, pending: AskedCall, { version }: StoreEntry): Extract<StoreChange, { do: 'put' }> {
  const value = pending as unknown as JsonObject;
  return { do: 'put', key: callKey(tag, pending.call), value, if: { version } };
}

/** Keeps only what is needed to take an answer that comes too late, for a while. */
function putWithdrawn(tag: string, pending: AskedCall, entry: StoreEntry): StoreChange {
  const { id, method } = pending.request;
  const rest: AskedCall = {
    ...pending,
    state: 'withdrawn',
    request: { id, method, params: {} },
    requestState: undefined,
    questions: pending.questions.map((question) => ({ id: question.id, key: question.key, text: '' })),
    answers: [],
  };
  return { ...put(tag, rest, entry), ttlMs: WITHDRAWN_MS };
}

function uncount(tag: string, { questions }: AskedCall): StoreChange {
  return { do: 'count', key: countKey(tag), by: -questions.length };
}

function toPending({ value }: StoreEntry): AskedCall {
  return value as unknown as AskedCall;
}

function callKey(tag: string, call: string): string {
  return `asked:${tag}:${call}`;
}

function countKey(tag: string): string {
  return `questions:${tag}`;
}

function callOf(id: string): string | undefined {
  return /^ask-([0-9a-f]{20})\.[0-9a-f-]{36}$/.exec(id)?.[1];
}

/** The record of a call that continues with its answers. */
export function runningOf({ stream, request, revision }: AskedCall): StreamingCall {
  return { stream, ids: [request.id], isBatch: false, revision };
}
