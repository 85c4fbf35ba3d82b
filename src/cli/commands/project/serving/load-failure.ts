// The failure of a file that cannot be loaded: the reason, and the line of code that it is about.

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CommandError } from '../../../command/failures.js';

const MAX_REASON = 2000;
const MAX_SOURCE_BYTES = 4_000_000;
/** The lines of code before and after the one that is wrong. */
const CONTEXT = 2;
const MAX_CODE = 160;

/** The failure of a file that threw while it was loaded. */
export function loadFailure(file: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const stack = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const lines = stack.split('\n');
  const at = lines.findIndex((line) => line.startsWith('    at '));
  const reason = (at === -1 ? lines : lines.slice(0, at)).join('\n').slice(0, MAX_REASON);
  const frame = lines.find(isOfUser);
  const place =
    placeIn(reason) ?? (frame === undefined ? undefined : placeIn(frame)) ?? syntaxPlace(file, error);
  // Some loaders show the code themselves.
  const code = place === undefined || /^\s*\^+\s*$/m.test(reason) ? undefined : codeFrame(place);
  const said = code === undefined ? reason : withoutPlaces(reason, place);
  const shown = [`${file} could not be loaded.`, said.trimEnd(), code ?? frame];
  return new CommandError('failed', shown.filter((part) => part !== undefined).join('\n'));
}

/** A reason whose lines are not the place alone, which is shown with its code, nor the files that asked for a module. */
function withoutPlaces(reason: string, place: CodePlace | undefined): string {
  const isPlace = (line: string): boolean => {
    const found = /^\s*\S+$/.test(line) ? placeIn(line.trim()) : undefined;
    return found !== undefined && found.path === place?.path && found.line === place.line;
  };
  const [said = ''] = reason.split(/\nRequire stack:\n/, 1);
  return said
    .split('\n')
    .filter((line) => !isPlace(line))
    .join('\n');
}

function isOfUser(line: string): boolean {
  return (
    line.startsWith('    at ') && /file:|\//.test(line) && !/node:|node_modules|\/dist\/cli\//.test(line)
  );
}

interface CodePlace {
  readonly path: string;
  readonly line: number;
  /** From 1 on. */
  readonly column: number;
}

/** The place that a message names, as in `/project/server.ts:2:6` or `file:///project/server.js:2`. */
function placeIn(text: string): CodePlace | undefined {
  const [, path, line, column = '1'] =
    /((?:file:\/\/)?(?:[A-Za-z]:[\\/]|\/)[^\n():]{1,1000}):(\d{1,7})(?::(\d{1,7}))?/.exec(text) ?? [];
  if (path === undefined || line === undefined) return undefined;
  try {
    return {
      path: path.startsWith('file:') ? fileURLToPath(path) : path,
      line: Number(line),
      column: Number(column),
    };
  } catch {
    return undefined;
  }
}

/** The lines around a place, with their numbers and a mark below the column; undefined if the file does not have it. */
function codeFrame({ path, line, column }: CodePlace): string | undefined {
  let source: readonly string[];
  try {
    if (statSync(path).size > MAX_SOURCE_BYTES) return undefined;
    source = readFileSync(path, 'utf8').split(/\r?\n/);
  } catch {
    return undefined;
  }
  if (source[line - 1] === undefined) return undefined;
  const isPrecise = !isInsideWord(source[line - 1] ?? '', column);
  const last = Math.min(source.length, line + CONTEXT);
  const width = String(last).length;
  const rows: string[] = [];
  for (let number = Math.max(1, line - CONTEXT); number <= last; number++) {
    const code = (source[number - 1] ?? '').replaceAll('\t', ' ').slice(0, MAX_CODE);
    rows.push(`${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${code}`.trimEnd());
    if (number === line && column <= MAX_CODE && isPrecise)
      rows.push(`  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`);
  }
  const shown = relative(process.cwd(), path);
  const place = `${shown.startsWith('..') ? path : shown}:${line}${isPrecise ? `:${column}` : ''}`;
  return [place, ...rows].join('\n');
}

/** Whether a column is in the middle of a word: that of code which a loader has changed, and not of the line as it was written. */
function isInsideWord(code: string, column: number): boolean {
  return /^\w\w$/.test(code.slice(column - 2, column));
}

/**
 * Finds the file of a syntax error, which Node does not tell: the file itself or one that it imports. A process of its own parses them; it runs
 * none of them.
 */
const FIND_SYNTAX_ERROR = `
import { readFileSync } from 'node:fs';
import { SourceTextModule } from 'node:vm';
const [first, message] = process.argv.slice(1);
const files = [first];
for (let at = 0; at < files.length && files.length < 2000; at++) {
  try {
    const { dependencySpecifiers } = new SourceTextModule(readFileSync(new URL(files[at]), 'utf8'), { identifier: files[at] });
    for (const one of dependencySpecifiers) {
      const url = /^[.]{1,2}[/]/.test(one) ? new URL(one, files[at]).href : '';
      if (/[.][cm]?js$/.test(url) && !files.includes(url)) files.push(url);
    }
  } catch (error) {
    // Node writes the place of an error that nobody catches.
    if (error.message === message) throw error;
  }
}`;

function syntaxPlace(file: string, error: unknown): CodePlace | undefined {
  if (!(error instanceof SyntaxError) || !/\.[cm]?js$/i.test(file)) return undefined;
  const url = pathToFileURL(resolve(file)).href;
  const args = ['--experimental-vm-modules', '--no-warnings', '--input-type=module', '-e', FIND_SYNTAX_ERROR];
  const { stderr } = spawnSync(process.execPath, [...args, '--', url, error.message], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  const [place = '', , marks = ''] = stderr.split('\n', 3);
  const found = placeIn(place);
  return found && { ...found, column: Math.max(0, marks.indexOf('^')) + 1 };
}
