import { type ErrorCode, McpError, toMcpError } from '../protocol/errors.js';
import type { TransportName } from '../protocol/link.js';
import type { Era } from './verdicts.js';

/** One way that was tried, and what came of it. Plain JSON: `data.attempts` of an error has a list of them. */
export interface Attempt {
  readonly target: string;
  readonly transport: TransportName;
  readonly era?: Era;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What failed in the order it was tried, made one error in the end. */
export class Failures {
  readonly #attempts: Attempt[] = [];
  readonly #errors: McpError[] = [];

  add(thrown: unknown, tried: Pick<Attempt, 'target' | 'transport' | 'era'>): McpError {
    const error = toMcpError(thrown);
    const { code, message } = error;
    this.#errors.push(error);
    this.#attempts.push(...(attemptsOf(error) ?? [{ ...tried, code, message }]));
    return error;
  }

  /** A failure that was alone, or came again in the same words, is thrown as it is. */
  toError(): McpError {
    const attempts = this.#attempts;
    const [first] = this.#errors;
    if (first && this.#errors.every(({ message }) => message === first.message)) return first;
    return new McpError(
      'connect_failed',
      `Nothing that was tried connected:\n${attempts.map(line).join('\n')}`,
      {
        data: { attempts },
        cause: new AggregateError(this.#errors, 'Every attempt failed'),
      },
    );
  }
}

/** The attempts that an error of ours tells of. A peer's error can have data of any shape, but never such a cause. */
function attemptsOf({ cause, data }: McpError): readonly Attempt[] | undefined {
  return cause instanceof AggregateError ? (data as { attempts?: readonly Attempt[] }).attempts : undefined;
}

function line({ target, transport, era, message }: Attempt): string {
  const way = era === undefined || era === transport ? transport : `${transport}, ${era} era`;
  return `- ${target} (${way}): ${message.trim().replace(/\n+/g, ' | ')}`;
}
