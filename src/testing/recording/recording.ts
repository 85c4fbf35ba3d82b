import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import type { ErrorCode } from '../../protocol/errors.js';
import { Secrets } from './secrets.js';

// The format of recordings: a header, then one line of JSON for each event, so that a recording can be read, compared and edited
// by hand.

export const HEADER = { fullmcp: 'recording', version: 1 } as const;

/**
 * One line. A line with `method` begins a call; `notify`, `outcome` and `error` belong to the call with the same number. A line with `redact`
 * alone adds names of secret fields to those of the header.
 */
export interface Entry {
  readonly call: number;
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly method?: string;
  readonly params?: JsonObject;
  /** The features of the client, if they are not those of the call before. */
  readonly capabilities?: JsonObject;
  readonly notify?: string;
  readonly outcome?: Outcome;
  readonly error?: RecordedError;
  /** Of the last line of a call: the milliseconds that the user took to answer, if it is known. */
  readonly youMs?: number;
}

interface RecordedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: unknown;
  readonly number?: number;
}

export function without(params: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = params;
  return rest;
}

export interface RecordedCall {
  readonly method: string;
  readonly params: JsonObject;
  /** The features that the client declared. */
  readonly capabilities: JsonObject;
  readonly notifications: { readonly method: string; readonly params: JsonObject | undefined }[];
  outcome?: Outcome;
  error?: RecordedError;
}

export interface Recording {
  readonly calls: readonly RecordedCall[];
  /** Finds the secrets that the recording leaves out. */
  readonly secrets: Secrets;
}

/** Reads a recording. Throws an error that names the first invalid line. */
export function readRecording(text: string): Recording {
  const lines = text.split('\n').map((line) => line.trim());
  const header = readLine(lines[0] ?? '', 1);
  if (header['fullmcp'] !== HEADER.fullmcp || header['version'] !== HEADER.version) {
    throw problem(1, `is not the header ${JSON.stringify(HEADER)}`);
  }
  const secrets = new Secrets(namesIn(header));
  const calls = new Map<unknown, RecordedCall>();
  let capabilities: JsonObject = {};
  lines.forEach((line, i) => {
    if (i === 0 || line === '' || (i === lines.length - 1 && isTorn(line))) return;
    const entry = readLine(line, i + 1);
    const { call: number, method, params, notify } = entry;
    if (number === undefined && Array.isArray(entry['redact'])) {
      secrets.addNames(namesIn(entry));
      return;
    }
    if (typeof method === 'string') {
      if (isObject(entry['capabilities'])) capabilities = entry['capabilities'];
      calls.set(number, { method, params: isObject(params) ? params : {}, capabilities, notifications: [] });
      return;
    }
    const call = calls.get(number);
    if (call === undefined) throw problem(i + 1, `belongs to call ${number}, which no line above begins`);
    if (typeof notify === 'string') {
      call.notifications.push({ method: notify, params: isObject(params) ? params : undefined });
    } else if (isObject(entry['outcome'])) call.outcome = entry['outcome'] as Outcome;
    else if (isObject(entry['error'])) call.error = entry['error'] as unknown as RecordedError;
    else throw problem(i + 1, 'has none of "method", "notify", "outcome" and "error"');
  });
  return { calls: [...calls.values()], secrets };
}

function namesIn({ redact }: JsonObject): readonly string[] {
  return Array.isArray(redact) ? redact.map(String) : [];
}

/** Whether a process ended while it wrote this line, the last one. */
function isTorn(line: string): boolean {
  if (!line.startsWith('{"')) return false;
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}

function readLine(line: string, number: number): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Reported below.
  }
  if (!isObject(value)) throw problem(number, 'is not a JSON object');
  return value;
}

function problem(line: number, what: string): TypeError {
  return new TypeError(`The recording cannot be replayed: line ${line} ${what}.`);
}
