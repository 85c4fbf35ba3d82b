// Reads the target that a user typed: a URL, a file, a command after `--`, or the name of a configured server.

import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import process from 'node:process';
import { entryTarget } from '../../connect/config/entry-target.js';
import { resolveTarget, type Target } from '../../connect/targets/target.js';
import { McpError } from '../../protocol/errors.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { shellWord } from '../../tooling/clean.js';
import type { Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';
import { WHAT_TARGETS_ARE } from '../command/parse.js';
import { callerOf, callerOption } from './caller.js';
import { configuredServers } from './configured.js';
import { missingFile } from './missing-file.js';
import { runProcess } from './run-process.js';

export interface TypedTarget {
  readonly target: Target;
  /** The target as one would type it, for messages and examples. */
  readonly typed: string;
  /** The word itself; empty for a command after `--`. */
  readonly word: string;
  /** Options that only a configured server has, such as its token; undefined for a target that was typed in full. */
  readonly own?: ReturnType<typeof entryTarget>['options'];
}

const URL_OR_FILE = /^(?:https?|wss?|file|nats|tls):|\.(?:[cm]?[jt]s|py|json)$/i;

/**
 * Takes the target from what was typed: the command after `--`, or the first word. Returns the words after it as well.
 */
export async function takeTarget(input: Typed): Promise<{ target: TypedTarget; words: readonly string[] }> {
  if (input.process) return { target: ofCommand(input.process, input), words: input.words };
  const [first = '', ...words] = input.words;
  if (first === '') throw usageError(`The target is missing. ${WHAT_TARGETS_ARE}`);
  return { target: await readTarget(first, input), words };
}

async function readTarget(word: string, input: Typed): Promise<TypedTarget> {
  const typed = shellWord(word);
  if (isScript(word)) return { target: withSettings(await script(word, input), input), typed, word };
  refuseCaller(typed, input);
  if (!URL_OR_FILE.test(word) && !/[/\\\s]/.test(word) && !/:\d+$/.test(word))
    return { ...(await named(word, input)), typed, word };
  checkTarget(word);
  if (hasSettings(input)) throw notStarted(typed);
  return { target: word, typed, word, ...(input.isFromFile && { own: {} }) };
}

/** The target that a file of a project names, which is below the folder of the file. `command` is how another one is typed. */
export function targetInFile(path: string, target: string, command: string): string {
  const folder = dirname(path);
  const file = join(folder, target);
  // The file may come from anybody, and so may a link beside it.
  if (existsSync(file) && !realpathSync(file).startsWith(realpathSync(folder) + sep))
    throw usageError(
      `"target" of ${path} is a link that leads out of its folder. Type it: ${command} <target>`,
    );
  return file;
}

function checkTarget(word: string): void {
  try {
    resolveTarget(word);
  } catch (error) {
    // It says what to write for an address without a scheme.
    const says = McpError.is(error) && error.message.includes(' has no scheme. ') ? error.message : undefined;
    throw usageError(says ?? `${JSON.stringify(word)} is not a target. ${WHAT_TARGETS_ARE}`);
  }
}

function ofCommand([command = '', ...args]: readonly string[], input: Typed): TypedTarget {
  const typed = ['--', command, ...args].map(shellWord).join(' ');
  refuseCaller(typed, input);
  return { target: withSettings({ command, args }, input), typed, word: '' };
}

/** Whether a word that stands where a command does is a target. A word alone is one if a server is configured with this name. */
export async function looksLikeTarget(word: string): Promise<boolean> {
  if (word === '--' || URL_OR_FILE.test(word) || /:\d+(?:\/|$)/.test(word) || /[/\\]/.test(word)) return true;
  if (!/^\w[\w.-]*$/.test(word)) return false;
  return (await configuredServers().catch(() => new Map())).has(word);
}

/** Whether a word is a file that `fullmcp run` starts. */
export function isScript(word: string): boolean {
  return /\.[cm]?[jt]s$/i.test(word) && !word.startsWith('file:');
}

// Anywhere else, the server decides by credentials who is calling.
function refuseCaller(typed: string, input: Typed): void {
  const option = callerOption(input);
  if (option !== undefined)
    throw usageError(
      `--${option} is for a server in a JavaScript or TypeScript file, and ${typed} is not one. For another server, use its credentials: --token or --header.`,
    );
}

interface Started {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

function hasSettings(input: Typed): boolean {
  return input.texts('env').length > 0 || input.text('cwd') !== undefined;
}

function withSettings(server: Started, input: Typed): Target {
  const cwd = input.text('cwd');
  const env = { ...server.env, ...variablesOf(input) };
  return { ...server, ...(Object.keys(env).length > 0 && { env }), ...(cwd !== undefined && { cwd }) };
}

/** The variables that were typed with `--env`. */
export function variablesOf(input: Typed): Readonly<Record<string, string>> {
  return Object.fromEntries(input.texts('env').map(variable));
}

function variable(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  const value = process.env[text];
  if (value !== undefined) return [text, value];
  throw usageError(
    `--env needs NAME=value, or the name of a variable that is set; ${JSON.stringify(text)} is not.`,
  );
}

/** A file is started by `fullmcp run`, so that it may be TypeScript and need not serve by itself. */
async function script(path: string, input: Typed): Promise<Started> {
  const folder = input.text('cwd') ?? '.';
  if (!existsSync(resolve(folder, path))) throw usageError(missingFile(path, folder));
  return runProcess(path, { caller: callerOf(input) });
}

async function named(name: string, input: Typed): Promise<Pick<TypedTarget, 'target' | 'own'>> {
  const servers = await configuredServers(input.text('config'));
  const found = servers.get(name);
  if (found) {
    const { target, options } = entryTarget(found.entry);
    if (!hasSettings(input)) return { target, own: options };
    if (!('command' in found.entry)) throw notStarted(name);
    return { target: withSettings(target as Started, input), own: options };
  }
  const close = closestName(name, [...servers.keys()]);
  const hint = close ? ` Did you mean ${JSON.stringify(close)}?` : ` ${WHAT_TARGETS_ARE}`;
  throw usageError(`No server is called ${JSON.stringify(name)}.${hint}`);
}

function notStarted(target: string): Error {
  return usageError(`--env and --cwd are for servers that are started here, and ${target} is not.`);
}
