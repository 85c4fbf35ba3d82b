// The story of a call: its rounds, questions, answers, progress, polls and notifications as one entry.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Failure } from './failure.js';

export type StoryKind =
  | 'connect'
  | 'tool'
  | 'task'
  | 'read'
  | 'prompt'
  | 'complete'
  | 'list'
  | 'subscription'
  | 'request'
  /** Messages that belong to no call: changes in a session, lines of stderr. */
  | 'unsolicited';

export interface Story {
  /** Unique in this process, growing. */
  readonly id: number;
  /** Its place among the runs of the same tool, prompt or URI on the same connection, from 1. People know a run by it. */
  readonly run: number;
  readonly connection: string;
  readonly kind: StoryKind;
  /** The name of the tool or prompt, the URI, or the method. */
  readonly title: string;
  readonly method: string;
  /** The arguments of a tool or prompt; the parameters of other requests. Undefined if they are too large: see `bytes`. */
  readonly args?: JsonObject;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly endedAt?: number;
  readonly state: 'running' | 'asks' | 'open' | 'ok' | 'tool-error' | 'error' | 'cancelled';
  /** The time that the server took, in milliseconds, without the user's. */
  readonly serverMs: number;
  /** The time that the user took to answer. */
  readonly youMs: number;
  readonly rounds: readonly StoryRound[];
  readonly questions: readonly QuestionView[];
  /** Progress, log messages and notifications, the latest `MAX_TICKS`. */
  readonly ticks: readonly Tick[];
  readonly droppedTicks: number;
  readonly progress?: { readonly progress: number; readonly total?: number; readonly message?: string };
  readonly task?: TaskView;
  readonly journal?: JournalView;
  /** Of a call of `run_code`: the calls that its program has made. */
  readonly program?: ProgramView;
  /** The outcome as the server sent it. Absent if it is larger than 64 kB: then fetch it. */
  readonly outcome?: JsonObject;
  readonly outcomeBytes?: number;
  readonly error?: Failure;
  readonly outputCheck?: OutputVerdict;
  /** The story that this one repeats. */
  readonly repeats?: number;
  readonly isPinned: boolean;
  /** Set if the call was made before this inspector was started, and comes from the history of the project. */
  readonly earlier?: EarlierFacts;
  /** The numbers of its messages, first and last; those between may belong to other stories. */
  readonly firstMessage?: number;
  readonly lastMessage?: number;
  /** The size of all its messages, with progress, log messages and polls. */
  readonly bytesOut?: number;
  readonly bytesIn?: number;
}

/** The facts about a call of an earlier visit. */
export interface EarlierFacts {
  /** The revision that was spoken. */
  readonly revision?: string;
  /** The parts that the history does not have: secrets in the arguments, all arguments, the end of a large result. */
  readonly lacks: readonly EarlierLack[];
}

export type EarlierLack = 'secrets' | 'arguments' | 'result';

/** One request and its response. */
export interface StoryRound {
  readonly at: number;
  /** Undefined while it runs. */
  readonly ms?: number;
  readonly outcome?: 'asks' | 'ok' | 'error' | 'task' | 'cancelled';
  /** The numbers of the request and of the response. */
  readonly request?: number;
  readonly response?: number;
  readonly bytesOut?: number;
  readonly bytesIn?: number;
  /** The size of the sealed state that travelled with it. */
  readonly stateBytes?: number;
  readonly http?: ExchangeFacts;
  /** Whether the client sent it again after the connection broke. */
  readonly isRetry?: boolean;
}

export interface ExchangeFacts {
  readonly method: string;
  readonly url: string;
  readonly status?: number;
  /** Secrets are masked. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

/** A question of the server. */
export interface QuestionView {
  readonly id: string;
  /** The server's key for it, if it has one. */
  readonly key?: string;
  /** The round in which it was asked, from 1. */
  readonly round: number;
  readonly kind: 'form' | 'url' | 'sampling' | 'roots';
  readonly at: number;
  /** Undefined while it is open. */
  readonly answeredAt?: number;
  readonly message: string;
  /** The calls of which one asks it, if the server does not say which: it is shown in each of them, and answered once. */
  readonly mayBeOf?: readonly { readonly story: number; readonly title: string }[];
  /** The schema of a form. */
  readonly schema?: JsonObject;
  readonly url?: string;
  /** The parameters of a request for sampling. */
  readonly sampling?: JsonObject;
  /** Why the previous answer was rejected. */
  readonly rejection?: string;
  readonly answer?: JsonObject;
  /** Whether the inspector answered by itself, with what the user had asked it to remember. */
  readonly isRemembered?: boolean;
  /** Why it can no longer be answered. */
  readonly gone?: string;
}

export interface Tick {
  readonly at: number;
  readonly kind: 'progress' | 'log' | 'changed' | 'status' | 'stderr' | 'notification';
  /** One line for people. */
  readonly text: string;
  readonly level?: string;
  readonly message?: number;
}

export interface TaskView {
  readonly id: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string;
  readonly createdAt?: number;
  /** When the server may forget it. */
  readonly keptUntil?: number;
  readonly pollMs?: number;
  readonly polls: number;
  readonly lastPoll?: number;
}

export type OutputVerdict =
  | { readonly result: 'fits' }
  | { readonly result: 'differs'; readonly path: string; readonly message: string }
  | { readonly result: 'unchecked'; readonly reason: string };

/** A program that a model, or the user of the page, has written. */
export interface ProgramView {
  /** Whether the server tells the calls of programs. Known when it has told the first one, or none with the result. */
  readonly isTold: boolean;
  /** The latest calls, in the order in which the program has made them. */
  readonly calls: readonly ProgramCallView[];
}

/** A call that a program has made. Its values are shortened, on one line, and without secrets. */
export interface ProgramCallView {
  /** Its number in the program, from 1. */
  readonly seq: number;
  readonly tool: string;
  /** As JSON. */
  readonly args: string;
  /** `waiting`: it did not end, or did not begin. */
  readonly state: 'waiting' | 'done' | 'failed';
  /** The line of the program. */
  readonly line?: number;
  readonly ms?: number;
  /** As JSON. */
  readonly result?: string;
  readonly error?: string;
  /** Whether a person has approved it. */
  readonly isApproved?: boolean;
}

/** The runs of a handler and the keys that it met in them. */
export interface JournalView {
  /** False: the journal is sealed, and only questions are known. */
  readonly hasSteps: boolean;
  readonly runs: readonly { readonly ms?: number; readonly outcome?: string }[];
  /** In the order in which the handler met them. */
  readonly rows: readonly JournalRow[];
  readonly stateBytes?: number;
}

export interface JournalRow {
  readonly kind: 'ask' | 'step' | 'return';
  readonly key: string;
  /** One for each run. */
  readonly cells: readonly JournalCell[];
  /** The value, shortened, as JSON. */
  readonly value?: string;
  readonly idempotencyKey?: string;
  /** The problem with it: it ran twice, or the next run did not meet it at the same place. */
  readonly warning?: string;
}

export type JournalCell = 'none' | 'asked' | 'known' | 'ran' | 'threw' | 'returned';
