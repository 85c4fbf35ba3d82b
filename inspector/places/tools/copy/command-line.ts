// A call as a command that a shell can run. Everything from a server is quoted, whatever is in it.

import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { fieldsOf } from '../../../../src/schema/read/across-branches.js';
import { shapeOf } from '../../../../src/schema/read/shape.js';
import { shellWord } from '../../../../src/tooling/clean.js';
import { headerWords } from './header-words.js';

export interface CopiedCall {
  readonly args: JsonObject;
  readonly schema: JsonObject;
}

/** `fullmcp call <target> <tool> a=1`. */
export function commandLine(connection: ConnectionView, tool: string, call: CopiedCall): string {
  return line(connection, 'call', [tool, ...argumentWords(call)]);
}

/** `fullmcp prompt <target> <name> topic=bread`. */
export function promptLine(
  connection: ConnectionView,
  prompt: string,
  args: Readonly<Record<string, string>>,
): string {
  return line(connection, 'prompt', [
    prompt,
    ...Object.entries(args).map(([name, value]) => `${name}=${value}`),
  ]);
}

/** `fullmcp tasks <target> <id>`. */
export function taskLine(connection: ConnectionView, id: string): string {
  return line(connection, 'tasks', [id]);
}

function line(connection: ConnectionView, command: string, said: readonly string[]): string {
  const { typed } = connection;
  const words = said.map(shellWord);
  // A server of a configuration, which is typed by its name, has its headers there.
  if (/^'?https?:/.test(typed)) words.unshift(...headerWords(connection));
  // The target is quoted already. A command is the last thing on the line, and everything else stands before it.
  const all = typed.startsWith('-- ') ? [...words, typed] : [typed, ...words];
  return ['fullmcp', command, ...all].join(' ');
}

function argumentWords({ args, schema }: CopiedCall): readonly string[] {
  const names = Object.keys(args);
  // Such a name would be read as a path, as a file, as an option, or as JSON.
  if (names.some((name) => !/^[A-Za-z_][\w-]*$/.test(name))) return [JSON.stringify(args)];
  const fields = new Map(fieldsOf(schema, schema).map((field) => [field.name, field.schema]));
  return names.map((name) => {
    const value = args[name];
    const { kind } = shapeOf(fields.get(name), schema);
    const isPlain =
      typeof value === 'string' && (kind === 'string' || kind === 'choice') && !value.startsWith('@');
    if (isPlain) return `${name}=${value}`;
    const isScalar = typeof value === 'number' || typeof value === 'boolean';
    const isExpected = kind === 'number' || kind === 'boolean';
    return `${name}${isScalar && isExpected ? '=' : ':='}${JSON.stringify(value)}`;
  });
}
