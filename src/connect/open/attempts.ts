import { type ErrorCode, McpError, toMcpError } from '../../protocol/errors.js';
import type { TransportName } from '../../protocol/link.js';
import type { Era } from '../targets/known-servers.js';

/** One way of connecting that was tried and failed. Plain JSON: `data.attempts` of an error is an array of these. */
export interface Attempt {
  /** The server's URL without secrets, or its command. */
  readonly target: string;
  /** The transport that was tried. */
  readonly transport: TransportName;
  /** The era that was tried; absent when the attempt failed before that was known. */
  readonly era?: Era;
  /** The code of the error. */
  readonly code: ErrorCode;
  /** The message of the error. */
  readonly message: string;
}

type Tried = Pick<Attempt, 'target' | 'transport' | 'era'>;

/**
 * The errors of ours that tell of several attempts. A peer's error may have data of any shape. The attempts are told in the
 * message, a line each, and not as causes: a runtime prints causes within causes, pages of them.
 */
const told = new WeakMap<McpError, { attempts: readonly Attempt[]; summary: string | undefined }>();

/** What the attempts together mean. */
export interface Summary {
  readonly sentence: string;
  /** A URL that is probably meant. */
  readonly suggestion?: string;
}

/** What failed in the order it was tried, made one error in the end. */
export class Failures {
  readonly #attempts: Attempt[] = [];
  readonly #lines: string[] = [];
  readonly #errors: McpError[] = [];

  get errors(): readonly McpError[] {
    return this.#errors;
  }

  add(thrown: unknown, tried: Tried): McpError {
    const error = toMcpError(thrown);
    const { code, message } = error;
    const { attempts = [{ ...tried, code, message }], summary } = told.get(error) ?? {};
    this.#errors.push(error);
    this.#attempts.push(...attempts);
    this.#lines.push(...(summary === undefined ? attempts.map(line) : [`- ${tried.target}: ${summary}`]));
    return error;
  }

  /** A failure that was alone, or came again in the same words, is thrown as it is. */
  toError(summary?: Summary): McpError {
    const [first] = this.#errors;
    if (summary === undefined && first && this.#errors.every(({ message }) => message === first.message))
      return first;
    const { sentence, ...more } = summary ?? { sentence: undefined };
    const message = [sentence ?? 'Nothing that was tried connected:', ...this.#lines].join('\n');
    const attempts = this.#attempts;
    const error = new McpError('connect_failed', message, { data: { ...more, attempts } });
    told.set(error, { attempts, summary: sentence });
    return error;
  }
}

function line({ target, transport, era, message }: Attempt): string {
  const way = era === undefined || era === transport ? transport : `${transport}, ${era} era`;
  return `- ${target} (${way}): ${message.trim().replace(/\n+/g, ' | ')}`;
}
