// A message on the wire. The page gets the head; the text is fetched when it is opened.

import type { LoggedError } from '../../tooling/process-output.js';

export interface MessageHead {
  /** Unique in this process, growing. */
  readonly seq: number;
  readonly connection: string;
  /** The story that it belongs to. */
  readonly story?: number;
  readonly at: number;
  readonly from: 'client' | 'server';
  readonly kind: 'request' | 'response' | 'error' | 'notification' | 'unreadable';
  /** The method; of a response, that of its request. */
  readonly method?: string;
  /** The tool, the prompt or the URI. */
  readonly name?: string;
  /** The words of a log message or of progress: one line of 200 characters at most. */
  readonly says?: string;
  readonly rpcId?: string | number;
  readonly bytes: number;
  /** Of a response: the time since its request. */
  readonly ms?: number;
  /** The beginning of the text, for the search: 200 characters at most. */
  readonly preview: string;
  readonly status?: number;
}

export interface MessageText {
  readonly seq: number;
  /** As it was on the wire, secrets masked; cut at 1 MB. */
  readonly text: string;
  readonly isCut: boolean;
}

export interface LogLine {
  readonly seq: number;
  readonly connection: string;
  readonly at: number;
  readonly source: 'stderr' | 'log' | 'problem';
  readonly level?: string;
  readonly logger?: string;
  readonly text: string;
  /** The error that the line is about, with its stack. */
  readonly error?: LoggedError;
}
