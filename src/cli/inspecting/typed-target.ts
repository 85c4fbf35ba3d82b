// The target on the command line, as the inspector connects to it.

import { resolve } from 'node:path';
import process from 'node:process';
import { resolveTarget } from '../../connect/targets/target.js';
import type { TargetSpec } from '../../inspector/contract/connection.js';
import type { OpenedTarget } from '../../inspector/contract/options.js';
import { JOURNAL_VARIABLE, newJournalMark } from '../../inspector/journal/journal-line.js';
import type { Auth } from '../../protocol/call.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import type { Typed } from '../command/definition.js';
import { callerOf, callerWords } from '../target/caller.js';
import { connectOptions } from '../target/open.js';
import { takeTarget } from '../target/read-target.js';
import { addressOf, typedOf } from './found-servers.js';

const SCRIPT = /\.[cm]?[jt]s$/i;

export interface TypedPlace {
  readonly typed: OpenedTarget;
  readonly again: TargetSpec | undefined;
  /** The words after the target. */
  readonly words: readonly string[];
}

/** Reads the target; undefined if none was typed, and MCP_SERVER_URL has none. */
export async function typedTarget(input: Typed): Promise<TypedPlace | undefined> {
  const url = process.env['MCP_SERVER_URL'];
  const isTyped = input.words.length > 0 || input.process !== undefined;
  if (!isTyped && !url) return undefined;
  const { target, words } = await takeTarget(isTyped || !url ? input : { ...input, words: [url] });
  const { signal, reconnect, auth, ...options } = connectOptions(input, target);
  // A login that is kept is read from the store of the inspector, which shows its steps.
  const hasOwn = typeof auth === 'string' || target.own?.auth !== undefined;
  const own = auth !== undefined && hasOwn ? { auth } : {};
  const opened: OpenedTarget = {
    target: target.target,
    options: { ...options, ...own },
    address: shownAddress(target.target),
    typed: shownTyped(target.typed, target.word, input),
  };
  const isScript = SCRIPT.test(target.word);
  return {
    typed: isScript ? reporting(opened, target.word, callerOf(input)) : opened,
    again: againOf(target.word, input),
    words,
  };
}

/** A file is started by `fullmcp run`, which reports the steps of its handlers. */
function reporting(opened: OpenedTarget, file: string, caller: Auth | undefined): OpenedTarget {
  const mark = newJournalMark();
  const server = opened.target as ServerProcess;
  const target = { ...server, env: { ...server.env, [JOURNAL_VARIABLE]: mark } };
  const typed = [opened.typed, ...(caller === undefined ? [] : callerWords(caller))].join(' ');
  return { ...opened, target, address: file, historyName: resolve(file), typed, journalMark: mark };
}

/** The target as it was typed, without secrets. */
function shownTyped(typed: string, word: string, { process: words }: Typed): string {
  const [command, ...args] = words ?? [];
  if (command !== undefined) return typedOf({ command, args });
  return /^(?:https?|wss?):/i.test(word) ? typedOf({ url: word }) : typed;
}

function shownAddress(target: OpenedTarget['target']): string {
  const resolved = resolveTarget(target);
  switch (resolved.kind) {
    case 'http':
    case 'websocket':
      return addressOf({ url: resolved.url.href });
    case 'process':
      return addressOf({ command: resolved.server.command, args: [...(resolved.server.args ?? [])] });
    case 'script':
    case 'config-file':
      return resolved.path;
    default:
      return resolved.kind;
  }
}

/** A server that was named is found by its name again. */
function againOf(word: string, input: Typed): TargetSpec | undefined {
  if (input.process) {
    const [command = '', ...args] = input.process;
    return { command, args, cwd: input.text('cwd') ?? process.cwd() };
  }
  if (/^(?:https?|wss?):/i.test(word)) return { url: word };
  if (!SCRIPT.test(word)) return undefined;
  const caller = callerOf(input);
  const { subject, scopes = [], claims = {}, ...more } = caller ?? {};
  // The claims of a person are not kept in a file.
  if (Object.keys({ ...claims, ...more }).length > 0) return undefined;
  return {
    text: word,
    cwd: input.text('cwd') ?? process.cwd(),
    ...(subject !== undefined && { as: subject }),
    ...(scopes.length > 0 && { scopes }),
  };
}
