// A format of configuration files, edited as text so that everything else in the file stays as it is.

import { CommandError } from '../../command/failures.js';

/** The fields of a server as a host writes them. */
export type HostFields = Readonly<Record<string, unknown>>;

export interface HostChange {
  /** The names of the objects around the servers, such as `mcpServers`. */
  readonly section: readonly string[];
  readonly name: string;
  /** The fields to write. */
  readonly fields: HostFields;
  /** The fields that are removed if `fields` lacks them; any other field of the server is kept. */
  readonly managed: readonly string[];
}

export interface ConfigFormat {
  /** Reads the servers of a file by their names. An empty file has none. */
  readonly read: (text: string, section: readonly string[]) => ReadonlyMap<string, HostFields>;
  /** Adds a server or changes it. */
  readonly write: (text: string, change: HostChange) => string;
  /** Removes a server. Without one of this name, the text stays as it is, or is refused if it cannot be edited. */
  readonly remove: (text: string, section: readonly string[], name: string) => string;
}

/** A file that cannot be read safely. It is never changed. */
export function unreadable(text: string, at: number, reason: string): CommandError {
  const before = text.slice(0, at).split('\n');
  const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
  return new CommandError('failed', `line ${line}, column ${column}: ${reason}`, { line, column });
}

// Control characters, invisible ones, and those that turn the order of words around.
const RANGES = [
  '\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f',
  '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff',
];
const HIDDEN = new RegExp(`[${RANGES.join('')}]`, 'g');

/** A string in double quotes that JSON, TOML and YAML read alike, and in which nothing is hidden. */
export function quoted(text: string): string {
  return hiddenEscaped(JSON.stringify(text));
}

/** JSON in which nothing is hidden. */
export function hiddenEscaped(json: string): string {
  return json.replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The line breaks of a file. */
export function lineBreakOf(text: string): '\n' | '\r\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
