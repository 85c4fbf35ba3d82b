// A model, as an eval asks it: one request with the whole conversation, one reply.

import type { JsonObject } from '../../jsonrpc/message.js';

/** A request to a model. */
export interface ModelRequest {
  /** The system prompt; empty if there is none. */
  readonly system: string;
  /** The tools in the shape of the API, as `toTools` makes them. */
  readonly tools: readonly object[];
  readonly messages: readonly ModelMessage[];
}

/** A message of a conversation. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  /** A reply of the model, in the shape in which its API takes it back. */
  | { readonly role: 'model'; readonly items: readonly JsonObject[] }
  /** The results of all calls of the reply before it, as `toTools` makes them. */
  | { readonly role: 'tools'; readonly results: readonly object[] };

/** A reply of a model that is complete. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** The reply in the shape in which the API takes it back. */
  readonly items: readonly JsonObject[];
  readonly stop: ModelStop;
  /** The tokens that the API counted; undefined if it does not say. */
  readonly tokens: ModelTokens | undefined;
}

/** A call that a model wants. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  /** The arguments; undefined if they are not a JSON object. */
  readonly args: JsonObject | undefined;
  /** The arguments as the model has written them. */
  readonly written: string;
}

/** The reason why a model stopped: `paused` wants its own reply back, and continues. */
export type ModelStop = 'end' | 'calls' | 'length' | 'refused' | 'paused' | 'other';

/** The tokens of one request and its reply. */
export interface ModelTokens {
  /** The tokens of the request, those from the cache of the vendor included. */
  readonly input: number;
  /** The part of `input` that came from the cache of the vendor. */
  readonly cached: number;
  /** The tokens of the reply. */
  readonly output: number;
}

/** Asks a model once. Rejects with a `ModelError`, or with the reason of the signal. */
export type AskModel = (request: ModelRequest, options: AskOptions) => Promise<ModelReply>;

interface AskOptions {
  readonly signal: AbortSignal;
  /** Gets the words of a reply while they are streamed. An attempt that fails may have had some. */
  readonly onWords?: (words: string) => void;
}

/** The kinds of failures: the API refused the request, is busy, cannot be reached, broke off, was silent, or sent something else. */
export type ModelFailure = 'refused' | 'busy' | 'unreachable' | 'broken' | 'silent' | 'unreadable';

export interface ModelErrorFacts {
  readonly status?: number | undefined;
  /** The time that the API wants to be left alone, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Whether the same request would fail again. Default: false. */
  readonly isFinal?: boolean;
}

/** A model could not be asked, or did not reply. The message has no secrets. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly kind: ModelFailure;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isFinal: boolean;

  constructor(
    kind: ModelFailure,
    message: string,
    { status, retryAfterMs, isFinal = false }: ModelErrorFacts = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
  }
}

/** Whether tokens may have been used by an attempt that failed. A refusal costs nothing. */
export function mayHaveCost(error: unknown): boolean {
  return !(error instanceof ModelError) || (error.kind !== 'refused' && error.kind !== 'busy');
}
