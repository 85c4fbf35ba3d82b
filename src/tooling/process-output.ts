// The lines that a server wrote to standard error, for the person who looks for the cause of a failure.

import { isObject } from '../jsonrpc/message.js';
import { tryParseObject } from '../jsonrpc/try-parse.js';

/** An error that a server has logged, or that was thrown in this process. */
export interface LoggedError {
  /** The reference that the client got instead of the error. */
  readonly ref?: string;
  /** The line that it was logged with, as in `Tool "add" failed (ref 9c6668e5)`. */
  readonly what: string;
  /** The error in one line, as in `TypeError: order is not defined`. */
  readonly title: string;
  /** The first place in the stack that is code of the program itself, as in `pay (/home/ada/shop/server.js:12:9)`. */
  readonly own?: string;
  /** The stack, and those of its causes. */
  readonly stack: string;
}

const MAX_STACK = 16_000;
const MAX_CAUSES = 3;
/** The lines of one error that are printed: the program's own line is the second. */
const MAX_LINES = 8;
const REF = /\(ref ([0-9a-f]{8})\)/;
/** The bundle or the source of this package. A stack names them as paths or as URLs. */
const OWN_FOLDER = /^file:\/\/(.*)\/(?:dist|src)\//.exec(import.meta.url)?.[1];
const FRAME = /^\s{0,20}at /;
/** The name of an error at the beginning of a line, as in `TypeError: …`, `FATAL: …` or `ValueError: …`. */
const ERROR_NAME = /^(?:Uncaught )?(?:[\w$.]{0,80}(?:Error|Exception)\b|FATAL\b|Fatal\b|fatal\b|panic\b)/;
const RUNTIME_NAME = /^Node\.js v\d|^Bun v\d/;

/** The reference in a message such as `Internal error (ref 9c6668e5)`. */
export function refIn(text: string): string | undefined {
  return REF.exec(text.slice(0, 2000))?.[1];
}

/** Reads a line of JSON that a server of ours logs with an error; undefined for any other line. */
export function readLoggedError(line: string): LoggedError | undefined {
  if (!line.startsWith('{') || !line.includes('"error":{')) return undefined;
  const { message, error } = tryParseObject(line) ?? {};
  if (typeof message !== 'string' || !isObject(error)) return undefined;
  return loggedError(message, error);
}

/** Describes an error that was thrown in this process. */
export function loggedError(what: string, error: unknown): LoggedError {
  const stack = stackOf(error, MAX_CAUSES).slice(0, MAX_STACK);
  const own = ownFrame(stack);
  const ref = refIn(what);
  return {
    what: oneLine(what, 500),
    title: oneLine(titleOf(error), 500),
    stack,
    ...(ref !== undefined && { ref }),
    ...(own !== undefined && { own }),
  };
}

/** A logged error for a terminal: the program's own line comes first, and the stack follows. */
function printLoggedError({ what, title, own, stack }: LoggedError): string {
  const frames = stack
    .split('\n')
    .filter((line) => FRAME.test(line))
    .map((line) => line.trim());
  const top = own === undefined ? [] : [`    at ${own}`];
  // The way through this package and through Node says nothing to a person who looks for a mistake of their own.
  const rest = frames
    .filter((frame) => frame !== `at ${own}` && !(own !== undefined && isOfOthers(frame)))
    .map((frame) => `    ${frame}`);
  return [`${what}: ${title}`, ...top, ...rest].join('\n');
}

/** A line of stderr for a terminal: what a server of ours logs as JSON in words, and any other line as it is. */
export function printLogLine(line: string): string {
  const error = readLoggedError(line);
  if (error !== undefined) return printLoggedError(error).split('\n', MAX_LINES).join('\n');
  const entry = line.startsWith('{"time":') ? tryParseObject(line) : undefined;
  const { time, server, level, message, ...rest } = entry ?? {};
  const isPlain = typeof level === 'string' && typeof message === 'string' && Object.keys(rest).length === 0;
  return isPlain ? `${level}: ${message}` : line;
}

/** The line that says why a process ended: its last error, or else its last line. Undefined if it wrote nothing. */
export function causeIn(lines: readonly string[]): string | undefined {
  const said = lines.filter((line) => line.trim() !== '' && !FRAME.test(line) && !RUNTIME_NAME.test(line));
  const last = said.findLast((line) => ERROR_NAME.test(line.trimStart())) ?? said.at(-1);
  if (last === undefined) return undefined;
  const logged = readLoggedError(last);
  return logged === undefined ? oneLine(last.trim(), 500) : `${logged.what}: ${logged.title}`;
}

function stackOf(error: unknown, causes: number): string {
  if (!isObject(error)) return titleOf(error);
  const { stack, cause } = error;
  const own = typeof stack === 'string' ? stack : titleOf(error);
  return causes > 0 && isObject(cause) ? `${own}\nCaused by: ${stackOf(cause, causes - 1)}` : own;
}

function titleOf(error: unknown): string {
  if (!isObject(error)) return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
  const { name, message } = error;
  return `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`;
}

/** The first frame that is neither of a package, nor of the runtime, nor of this package. */
function ownFrame(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    if (!FRAME.test(line)) continue;
    const frame = line.trim().slice(3);
    if (isOwn(frame)) return oneLine(frame, 500);
  }
  return undefined;
}

function isOwn(frame: string): boolean {
  const path = frame.replaceAll('\\', '/');
  if (path.includes('/node_modules/') || path.includes('node:') || !/:\d+(?::\d+)?\)?$/.test(path))
    return false;
  return (
    OWN_FOLDER === undefined || !['dist', 'src'].some((folder) => path.includes(`${OWN_FOLDER}/${folder}/`))
  );
}

/** Whether a frame is neither code of the program nor of a library that it calls. */
function isOfOthers(frame: string): boolean {
  return isOfPackage(frame) || /(?:\(|^at )node:/.test(frame);
}

function isOfPackage(frame: string): boolean {
  const path = frame.replaceAll('\\', '/');
  const folders = OWN_FOLDER === undefined ? [] : ['dist', 'src'].map((folder) => `${OWN_FOLDER}/${folder}/`);
  return ['/node_modules/fullmcp/', ...folders].some((folder) => path.includes(folder));
}

/** Text on one line. It is made harmless where it is shown. */
function oneLine(text: string, limit: number): string {
  return text.slice(0, limit).replace(/[\r\n\t]/g, ' ');
}
