import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import type { ErrorCode } from '../../protocol/errors.js';

// The format of recordings: a header, then one line of JSON for each event, so that a recording can be read, compared and edited
// by hand.

export const HEADER = { fullmcp: 'recording', version: 1 } as const;

/** One line. A line with `method` begins a call; `notify`, `outcome` and `error` belong to the call with the same number. */
export interface Entry {
  readonly call: number;
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly notify?: string;
  readonly outcome?: Outcome;
  readonly error?: RecordedError;
}

interface RecordedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: unknown;
  readonly number?: number;
}

const REDACTED = '***';
const secrets = [
  'authorization',
  'token',
  'accesstoken',
  'refreshtoken',
  'password',
  'secret',
  'clientsecret',
  'apikey',
];

/** The names of fields whose values are replaced by `***`: the usual ones and these, in the form that `redact` compares. */
export function secretNames(more: readonly string[]): ReadonlySet<string> {
  return new Set([...secrets, ...more.map(plain)]);
}

// `apiKey`, `api_key` and `API-Key` are one name.
function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replaceAll('-', '');
}

export function printEntry(entry: Entry, names: ReadonlySet<string>): string {
  return JSON.stringify(redact(entry, names));
}

/** A copy with `***` as the value of each field that has one of these names. */
export function redact(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner !== undefined && names.has(plain(name)) ? REDACTED : redact(inner, names),
    ]),
  );
}

export function without(params: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = params;
  return rest;
}

export interface RecordedCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly notifications: { readonly method: string; readonly params: JsonObject | undefined }[];
  outcome?: Outcome;
  error?: RecordedError;
}

export interface Recording {
  readonly calls: readonly RecordedCall[];
  readonly names: ReadonlySet<string>;
}

/** Reads a recording. Throws an error that names the first invalid line. */
export function readRecording(text: string): Recording {
  const lines = text.split('\n').map((line) => line.trim());
  const header = readLine(lines[0] ?? '', 1);
  if (header['fullmcp'] !== HEADER.fullmcp || header['version'] !== HEADER.version) {
    throw problem(1, `is not the header ${JSON.stringify(HEADER)}`);
  }
  const calls = new Map<unknown, RecordedCall>();
  lines.forEach((line, i) => {
    if (i === 0 || line === '') return;
    const entry = readLine(line, i + 1);
    const { call: number, method, params, notify } = entry;
    if (typeof method === 'string') {
      calls.set(number, { method, params: isObject(params) ? params : {}, notifications: [] });
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
  const names = Array.isArray(header['redact']) ? header['redact'].map(String) : [];
  return { calls: [...calls.values()], names: secretNames(names) };
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
