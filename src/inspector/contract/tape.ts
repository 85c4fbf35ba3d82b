// A tape: calls that were recorded, for looking at and for making them again.

import type { JsonObject } from '../../jsonrpc/message.js';

export interface TapeView {
  readonly id: string;
  readonly name: string;
  readonly calls: readonly TapeCall[];
}

export interface TapeCall {
  readonly method: string;
  /** The tool, the prompt or the URI. */
  readonly name?: string;
  readonly params: JsonObject;
  readonly notifications: readonly { readonly method: string; readonly params?: JsonObject }[];
  readonly outcome?: JsonObject;
  readonly error?: JsonObject;
  /** Milliseconds since the beginning of the tape. */
  readonly at: number;
  /** The time of the server, without the user's. */
  readonly ms?: number;
  readonly youMs?: number;
}

export interface TapeReplayView {
  readonly calls: readonly {
    /** The place of the call in the tape. */
    readonly call: number;
    readonly result: 'same' | 'different' | 'skipped';
    readonly reason?: string;
    readonly differences?: readonly {
      readonly path: string;
      readonly before?: string;
      readonly after?: string;
    }[];
  }[];
}
