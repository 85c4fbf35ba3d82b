// Asks the person at the terminal for what a call lacks: the tool, and the arguments that it requires.

import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../client/model/client.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { fieldsOf } from '../../schema/read/across-branches.js';
import type { ShapeField } from '../../schema/read/shape.js';
import { cleanLine, shellWord } from '../../tooling/clean.js';
import { hasUnknown } from '../arguments/check-arguments.js';
import { readArguments } from '../arguments/read-arguments.js';
import type { Options, Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';
import { linesOf } from '../terminal/person.js';
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
      for (;;) {
        list(shown, input);
        const line = await reader.line('  tool  number or name > ', signal);
        if (line === undefined) throw new CommandError('interrupted', 'Nothing was chosen.');
        const found = chosen(line.trim(), shown, tools);
        const [only] = found;
        if (only !== undefined && found.length === 1) return only.name;
        if (found.length === 0)
          out.note(`  No tool is called ${JSON.stringify(cleanLine(line.trim(), 100))}.`);
        shown = found.length === 0 ? tools : found;
      }
    } finally {
      reader.close();
    }
  });
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
    const about = room < 12 ? '' : cleanLine(description ?? title ?? '', room);
    out.styledNote(
      `  ${out.noteStyle('dim', String(at + 1).padStart(3))}  ${out.noteStyle('bold', name)}${' '.repeat(width - name.length)}  ${out.noteStyle('dim', about)}`.trimEnd(),
    );
  });
  if (tools.length > MAX_LISTED)
    out.note(`       … and ${tools.length - MAX_LISTED} more. Type a part of the name.`);
}

/**
 * Asks for the required arguments that are missing. Returns them as one types them, or none if nobody is there to ask, or if what was typed
 * is wrong: the check of the arguments says so before the person has typed the rest.
 */
export async function askArguments(
  tool: ListedTool,
  args: JsonObject,
  input: Typed,
): Promise<readonly string[]> {
  const schema = tool.inputSchema;
  const fields = fieldsOf(schema, schema);
  const isGiven = ({ name }: ShapeField): boolean => Object.hasOwn(args, name);
  const missing = fields.filter((field) => field.isRequired && !isGiven(field));
  if (missing.length === 0 || missing.length > MAX_ASKED || !canAsk(input)) return [];
  const isWrong = (field: ShapeField): boolean =>
    fieldOf(field, schema).check(args[field.name]) !== undefined;
  if (hasUnknown(tool, args, input.flag('allow-unknown')) || fields.filter(isGiven).some(isWrong)) return [];
  const { out, signal } = input;
  const reader = linesOf(input.person());
  return out.quietly(async () => {
    out.note(`${cleanLine(tool.name, 80)} needs:`);
    const words: string[] = [];
    try {
      for (const shapeField of missing) {
        const field = fieldOf(shapeField, schema);
        const value = await askField(field, { reader, signal, out });
        if (value === DECLINED) throw new CommandError('interrupted', 'Nothing was sent.');
        words.push(
          argumentWord(field.name, value === LEFT_OUT ? field.shape.schema['default'] : value, schema),
        );
      }
      return words;
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
