// The messages between the primary process and its workers.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { LoggedEvent } from '../../../state/event-log.js';
import type { OuterOptions } from '../config/outer-options.js';

/** A message of a worker to the primary process. */
export type ToPrimary =
  | {
      readonly fullmcp: 'call';
      readonly id: number;
      readonly part: 'store' | 'bus' | 'eventLog';
      readonly method: string;
      readonly args: readonly unknown[];
    }
  | { readonly fullmcp: 'settings' }
  | { readonly fullmcp: 'unsubscribe'; readonly topic: string }
  | { readonly fullmcp: 'unfollow'; readonly id: number };

/** A message of the primary process to a worker. */
export type ToWorker =
  | { readonly fullmcp: 'settings'; readonly settings: OuterOptions }
  | { readonly fullmcp: 'result'; readonly id: number; readonly result?: unknown }
  | { readonly fullmcp: 'error'; readonly id: number; readonly message: string; readonly isRange: boolean }
  | { readonly fullmcp: 'published'; readonly topic: string; readonly message: JsonObject }
  | { readonly fullmcp: 'event'; readonly id: number; readonly event: LoggedEvent }
  | { readonly fullmcp: 'end'; readonly id: number; readonly message?: string };

/** A channel between two processes: messages in one direction arrive in the order in which they were sent. */
export interface ProcessChannel<Out, In> {
  readonly send: (message: Out) => void;
  /** Calls `listener` with every message from the other side. */
  readonly onMessage: (listener: (message: In) => void) => void;
  /** Calls `listener` when the other side is gone. */
  readonly onClose: (listener: () => void) => void;
}

/** Whether a message between processes is one of ours. A program may send its own over the same channel. */
export function isOurs(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'fullmcp' in message;
}
