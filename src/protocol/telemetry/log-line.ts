import { tryParse } from '../../jsonrpc/try-parse.js';
import { type HideInText, hideInText } from '../secrets/text.js';
import { LoggedCall } from './handler-log.js';

// One message as one line: nothing in it can begin another line, or command a terminal.

/** The parts of a line. */
export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly server?: string | undefined;
  /** An error, or another value. */
  readonly detail?: unknown;
}

/** The characters of a message or a stack that are logged. */
const MAX_TEXT = 8192;
/** The number of causes of an error, and of causes of causes. */
const MAX_CAUSES = 3;
/** Stands for a value that cannot be printed. */
export const UNREADABLE = '[unreadable]';
/** Controls, separators of lines, and characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are replaced.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Prints an entry as JSON. JSON escapes some characters by itself. */
export function printJson(entry: object): string {
  return JSON.stringify(entry).replace(UNPRINTABLE, escaped);
}

/** Makes lines, without the secrets that can be recognized in them. */
export class LogLines {
  #hide: HideInText | undefined;

  /** A line of JSON for a program. */
  json({ level, message, server, detail }: LogEntry): string {
    const what = detail instanceof LoggedCall ? this.#call(detail) : this.#detail(detail);
    return printJson({
      time: new Date().toISOString(),
      level,
      server,
      message: this.#clean(message),
      ...what,
    });
  }

  #detail(detail: unknown): object {
    if (isError(detail)) return { error: this.#error(detail, MAX_CAUSES) };
    return detail === undefined ? {} : { detail: this.#clean(textOf(detail)) };
  }

  #call({ method, target, id, caller, data }: LoggedCall): object {
    const facts = { method, target: target && this.#clean(target), id, caller };
    if (isError(data)) return { ...facts, error: this.#error(data, MAX_CAUSES) };
    return data === undefined ? facts : { ...facts, data: parsed(this.#clean(textOf(data))) };
  }

  /** A line for a person. The stack of an error follows, indented. */
  text({ level, message, detail: all }: LogEntry): string {
    const about = all instanceof LoggedCall ? ` (${this.#clean(subjectOf(all))})` : '';
    const line = `[fullmcp] ${level}: ${`${this.#clean(message)}${about}`.replace(UNPRINTABLE, escaped)}`;
    const detail = all instanceof LoggedCall ? all.data : all;
    if (detail === undefined) return line;
    const lines = this.#clean(isError(detail) ? stackOf(detail, MAX_CAUSES) : textOf(detail)).split('\n');
    return `${line} ${lines.map((one) => one.trim().replace(UNPRINTABLE, escaped)).join('\n    ')}`;
  }

  #error({ name, message, code, stack, cause, errors }: ErrorLike, causes: number): object {
    const inner = (one: unknown): unknown =>
      isError(one) && causes > 0 ? this.#error(one, causes - 1) : undefined;
    return {
      name: typeof name === 'string' ? this.#clean(name) : undefined,
      message: this.#clean(message),
      code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
      stack: typeof stack === 'string' ? this.#clean(stack) : undefined,
      cause: inner(cause),
      errors: Array.isArray(errors) ? errors.slice(0, MAX_CAUSES).map(inner) : undefined,
    };
  }

  #clean(text: string): string {
    this.#hide ??= hideInText();
    // The text is shortened first, so that its length does not matter.
    return text.length > MAX_TEXT ? `${this.#hide(text.slice(0, MAX_TEXT))}…` : this.#hide(text);
  }
}

interface ErrorLike {
  readonly message: string;
  readonly name?: unknown;
  readonly code?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

function isError(value: unknown): value is ErrorLike {
  return typeof (value as ErrorLike | undefined | null)?.message === 'string';
}

function stackOf({ message, stack, cause }: ErrorLike, causes: number): string {
  const own = typeof stack === 'string' ? stack : message;
  return isError(cause) && causes > 0 ? `${own}\nCaused by: ${stackOf(cause, causes - 1)}` : own;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, readable) ?? String(value);
  } catch {
    // The value refers to itself, or has getters that throw. The rest of the line is worth writing.
    return UNREADABLE;
  }
}

// Rows of databases have large numbers, and an error in an object has no members of its own that JSON shows.
function readable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Error ? { name: value.name, message: value.message } : value;
}

/** The value of JSON, so that a program can search in it; the string itself if it was cut. */
function parsed(text: string): unknown {
  const value = tryParse(text);
  return value === undefined ? text : value;
}

function subjectOf({ method, target, id, caller }: LoggedCall): string {
  return `${target ?? method}, call ${id}${caller === undefined ? '' : `, ${caller.subject}`}`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
