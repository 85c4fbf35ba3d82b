// Asks the person at the terminal for what a call lacks: the tool, and the arguments that it requires.

import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../client/model/client.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { fieldsOf } from '../../schema/read/across-branches.js';
import type { ShapeField } from '../../schema/read/shape.js';
import { cleanLine, shellWord } from '../../tooling/clean.js';
import { hasUnknown } from '../arguments/check-arguments.js';
import { readArguments } from '../arguments/read-arguments.js';
import type { Options, Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';
import type { Output } from '../terminal/output.js';
import { linesOf } from '../terminal/person.js';
import { cutToWidth } from '../terminal/text-width.js';
import { askField, DECLINED, LEFT_OUT } from './asker.js';
import { fieldOf } from './form-fields.js';

/** The tools that are listed. A longer list is searched by typing. */
const MAX_LISTED = 40;
const MAX_ASKED = 30;

/** Whether a person sees what is asked, and the answer goes nowhere else. A program would wait forever. */
export function canAsk({ person, out }: Typed): boolean {
  return !out.isPiped && !out.isJson && person().isPresent;
}

/** Lets the person choose a tool: by its number, its name, or a part of it. Throws if nobody is there. */
export async function chooseTool(client: Client, input: Typed): Promise<string> {
  if (!canAsk(input)) throw usageError('The name of a tool is missing. `fullmcp list` shows them.');
  const tools = await client.tools().all();
  if (tools.length === 0) throw usageError('The server has no tools.');
  const { out, signal } = input;
  const reader = linesOf(input.person());
  return out.quietly(async () => {
    try {
      let shown: readonly ListedTool[] = tools;
      list(shown, input);
      for (;;) {
        const line = await reader.line('  tool  number or name > ', signal);
        if (line === undefined) throw ended('Nothing was called.', out);
        const found = chosen(line.trim(), shown, tools);
        const [only] = found;
        if (only !== undefined && found.length === 1) return only.name;
        if (found.length === 0) {
          // The list is still on the screen.
          out.note(`  ${noSuchTool(line.trim(), tools, shown.length)}`);
          continue;
        }
        shown = found;
        list(shown, input);
      }
    } finally {
      reader.close();
    }
  });
}

/** The end of a command at Ctrl+D. The message of such an end is not printed, but what did not happen is worth a line. */
function ended(message: string, out: Output): CommandError {
  out.note(message);
  return new CommandError('interrupted', message);
}

function noSuchTool(text: string, tools: readonly ListedTool[], count: number): string {
  if (/^\d+$/.test(text)) return count === 1 ? 'The only number is 1.' : `The numbers are 1 to ${count}.`;
  const names = tools.map(({ name }) => name);
  const close = closestName(text, names);
  const hint = close === undefined ? '' : ` Did you mean ${JSON.stringify(cleanLine(close, 100))}?`;
  return `No tool is called ${JSON.stringify(cleanLine(text, 100))}.${hint}`;
}

/** The tools that a person may mean: the one with this number or name, or all whose names have this in them. */
function chosen(
  text: string,
  shown: readonly ListedTool[],
  all: readonly ListedTool[],
): readonly ListedTool[] {
  if (text === '') return shown;
  const exact =
    all.find(({ name }) => name === text) ?? (/^\d{1,6}$/.test(text) ? shown[Number(text) - 1] : undefined);
  if (exact !== undefined) return [exact];
  return all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
}

function list(tools: readonly ListedTool[], { out }: Typed): void {
  const listed = tools.slice(0, MAX_LISTED);
  const names = listed.map(({ name }) => cleanLine(name, 40));
  const width = Math.max(...names.map((name) => name.length));
  listed.forEach(({ title, description }, at) => {
    const name = names[at] ?? '';
    const room = out.columns - width - 10;
    const about = room < 12 ? '' : cutToWidth(cleanLine(description ?? title ?? '', room), room);
    out.styledNote(
      `  ${out.noteStyle('dim', String(at + 1).padStart(3))}  ${out.noteStyle('bold', name)}${' '.repeat(width - name.length)}  ${out.noteStyle('dim', about)}`.trimEnd(),
    );
  });
  if (tools.length > MAX_LISTED)
    out.note(`       … and ${tools.length - MAX_LISTED} more. Type a part of the name.`);
}

/** Asks for the required arguments of a tool that are missing. Returns them as one types them. */
export async function askArguments(
  tool: ListedTool,
  args: JsonObject,
  input: Typed,
): Promise<readonly string[]> {
  const asked = await askMissing(tool, args, input);
  return [...asked].map(([name, value]) => argumentWord(name, value, tool.inputSchema));
}

/**
 * Asks for required arguments that are missing. Returns their values by name; none if nobody is there to ask, or if what was typed is wrong:
 * the check of the arguments says so before the person has typed the rest.
 */
export async function askMissing(
  tool: Pick<ListedTool, 'name' | 'inputSchema'>,
  args: JsonObject,
  input: Typed,
): Promise<ReadonlyMap<string, unknown>> {
  const schema = tool.inputSchema;
  const fields = fieldsOf(schema, schema);
  const isGiven = ({ name }: ShapeField): boolean => Object.hasOwn(args, name);
  const missing = fields.filter((field) => field.isRequired && !isGiven(field));
  const values = new Map<string, unknown>();
  if (missing.length === 0 || missing.length > MAX_ASKED || !canAsk(input)) return values;
  const isWrong = (field: ShapeField): boolean =>
    fieldOf(field, schema).check(args[field.name]) !== undefined;
  if (hasUnknown(tool, args, input.flag('allow-unknown')) || fields.filter(isGiven).some(isWrong))
    return values;
  const { out, signal } = input;
  const reader = linesOf(input.person());
  return out.quietly(async () => {
    out.note(`${cleanLine(tool.name, 80)} needs:`);
    try {
      for (const shapeField of missing) {
        const field = fieldOf(shapeField, schema);
        const value = await askField(field, { reader, signal, out });
        if (value === DECLINED) throw ended('Nothing was sent.', out);
        values.set(field.name, value === LEFT_OUT ? field.shape.schema['default'] : value);
      }
      return values;
    } finally {
      reader.close();
    }
  });
}

/** An argument as one types it. The plainest form that is read as the same value is taken. */
export function argumentWord(name: string, value: unknown, schema: JsonObject): string {
  const json = JSON.stringify(value);
  const plain = typeof value === 'string' ? value : json;
  const whole = JSON.stringify({ [name]: value });
  const forms = [...(plain.startsWith('@') ? [] : [`${name}=${plain}`]), `${name}:=${json}`];
  // A name may begin as a file, an option or JSON does.
  return forms.find((form) => /^[^@{-]/.test(form) && isRead(form, { [name]: value }, schema)) ?? whole;
}

function isRead(word: string, wanted: object, schema: JsonObject): boolean {
  try {
    return isDeepStrictEqual({ ...readArguments([word], schema) }, wanted);
  } catch {
    return false;
  }
}

/** Options whose values are not printed again: the name of a header or a variable is, what it holds is not. */
const HIDDEN: Readonly<Record<string, (text: string) => string>> = {
  token: () => '…',
  header: (text) => `${text.split(':', 1)[0]}: …`,
  env: (text) => (text.includes('=') ? `${text.split('=', 1)[0]}=…` : text),
};

/** The line that makes the same call again, with the options that were typed, and without secrets. */
export function lineToRepeat(words: readonly string[], options: Options, input: Typed): string {
  const typed = Object.entries(options).flatMap(([name, { type }]) => {
    if (!input.flag(name)) return [];
    if (type === 'boolean') return [`--${name}`];
    return input.texts(name).flatMap((text) => [`--${name}`, (HIDDEN[name] ?? String)(text)]);
  });
  const after = input.process ? ['--', ...input.process] : [];
  return ['fullmcp', ...words, ...typed, ...after].map(shellWord).join(' ');
}
