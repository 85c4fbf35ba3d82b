// Failed attempts to connect, and the one error made of them.

import type { TransportName } from '../../protocol/call.js';
import { type ErrorCode, McpError, toMcpError } from '../../protocol/errors.js';
import type { Era } from '../targets/known-servers.js';

/** One way of connecting that was tried and failed. Plain JSON: `data.attempts` of an error is an array of these. */
export interface Attempt {
  /** The server's URL without secrets, or its command. */
  readonly target: string;
  /** The transport that was tried. */
  readonly transport: TransportName;
  /** The era that was tried; absent if the attempt failed before the era was known. */
  readonly era?: Era;
  /** The code of the error. */
  readonly code: ErrorCode;
  /** The message of the error. */
  readonly message: string;
}

type AttemptTarget = Pick<Attempt, 'target' | 'transport' | 'era'>;

/**
 * The errors that `toError` made of several attempts; `data` alone does not identify them, since a peer chooses its own. The
 * message has a line for each attempt. The attempts are not the error's causes, because runtimes print nested causes over many
 * pages.
 */
const summaries = new WeakMap<McpError, { attempts: readonly Attempt[]; summary: string | undefined }>();

/** The conclusion from all attempts together. */
export interface Summary {
  readonly sentence: string;
  /** The URL that was probably meant. */
  readonly suggestion?: string;
}

/** The attempts that failed, in order, which become one error in the end. */
export class Attempts {
  readonly #attempts: Attempt[] = [];
  readonly #lines: string[] = [];
  readonly #errors: McpError[] = [];

  get errors(): readonly McpError[] {
    return this.#errors;
  }

  add(thrown: unknown, at: AttemptTarget): McpError {
    const error = toMcpError(thrown);
    const { code, message } = error;
    const { attempts = [{ ...at, code, message }], summary } = summaries.get(error) ?? {};
    this.#errors.push(error);
    this.#attempts.push(...attempts);
    this.#lines.push(...(summary === undefined ? attempts.map(line) : [`- ${at.target}: ${summary}`]));
    return error;
  }

  /** One error for all attempts. A single failure, or several with the same message, is returned as it is. */
  toError(summary?: Summary): McpError {
    const [first] = this.#errors;
    if (summary === undefined && first && this.#errors.every(({ message }) => message === first.message))
      return first;
    const { sentence, ...more } = summary ?? { sentence: undefined };
    const message = [sentence ?? 'Could not connect. Tried:', ...this.#lines].join('\n');
    const attempts = this.#attempts;
    const error = new McpError('connect_failed', message, { data: { ...more, attempts } });
    summaries.set(error, { attempts, summary: sentence });
    return error;
  }
}

const REVISIONS = {
  modern: 'newest revision',
  session: 'older revisions',
  'http+sse': 'oldest revision',
} as const satisfies Readonly<Record<Era, string>>;

function line({ target, transport, era, message }: Attempt): string {
  const label = era === undefined || era === transport ? transport : `${transport}, ${REVISIONS[era]}`;
  return `- ${target} (${label}): ${message.trim().replace(/\n+/g, ' | ')}`;
}
