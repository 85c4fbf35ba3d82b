// Makes a target of what the user typed or chose in the page. Only this starts a process, and only the one that was asked for.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { entryTarget } from '../../connect/config/entry-target.js';
import type { ConnectOptions } from '../../connect/targets/options.js';
import { resolveTarget, type ServerEntry, type Target } from '../../connect/targets/target.js';
import type { TargetSpec } from '../../inspector/contract/connection.js';
import type { OpenedTarget } from '../../inspector/contract/options.js';
import { JOURNAL_VARIABLE, newJournalMark } from '../../inspector/journal/journal-line.js';
import type { Auth } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { type Revision, revisions } from '../../protocol/tables/revisions.js';
import { shellWord } from '../../tooling/clean.js';
import { callerOf, callerWords } from '../target/caller.js';
import { missingFile } from '../target/missing-file.js';
import { runProcess } from '../target/run-process.js';
import { addressOf, asHostServer, type ConfiguredPlace, typedOf } from './found-servers.js';
import { looksLikeConfig, readPasted } from './pasted-config.js';
import { splitCommand } from './split-command.js';
import type { UsedServers } from './used-servers.js';

export interface OpenTargetParts {
  readonly places: () => Promise<readonly ConfiguredPlace[]>;
  readonly used: UsedServers;
}

const SCRIPT = /\.[cm]?[jt]s$/i;
const SCHEMES = /^(?:https?|wss?|nats|tls):/i;
const URL_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Makes the target of a spec. Rejects with an `McpError` for the user. */
export async function openTarget(spec: TargetSpec, parts: OpenTargetParts): Promise<OpenedTarget> {
  const { text, url, command, name } = spec;
  if ([text, url, command, name].filter((place) => place !== undefined).length !== 1)
    throw wrong('Say where the server is: a URL, a command, a file, or one of the servers that were found.');
  const opened = await placeOf(spec, parts);
  // A server elsewhere decides by credentials who is calling.
  if ((spec.as ?? spec.scopes) !== undefined && opened.journalMark === undefined)
    throw wrong(`A caller is for a JavaScript or TypeScript file, and ${opened.typed} is not one.`);
  return opened;
}

async function placeOf(spec: TargetSpec, parts: OpenTargetParts): Promise<OpenedTarget> {
  const { text, url, command, name } = spec;
  if (name !== undefined) return ofFound(name, spec, parts);
  if (url !== undefined) return ofUrl(url, spec);
  if (command !== undefined) return ofCommand(command, spec.args ?? [], spec);
  return ofText((text ?? '').trim(), spec, parts);
}

async function ofText(text: string, spec: TargetSpec, parts: OpenTargetParts): Promise<OpenedTarget> {
  if (text === '') throw wrong('Type a URL, a file, or a command.');
  if (looksLikeConfig(text)) return ofEntry(readPasted(text).entry, spec);
  if (URL_SCHEME.test(text)) return ofUrl(text, spec);
  if (SCRIPT.test(text) && existsSync(resolve(spec.cwd ?? '.', text))) return ofScript(text, spec);
  const { command, args, env } = splitCommand(text);
  const isWord = args.length === 0 && Object.keys(env).length === 0;
  if (isWord) {
    const found = (await parts.places()).find(({ name }) => name === command);
    if (found !== undefined) return ofEntry(found.entry(), spec, found.name);
    if (SCRIPT.test(command)) throw wrong(missingFile(command, spec.cwd));
    // Says which scheme is missing, if the word is an address.
    if (/[:/]\d|\.[a-z]+\//i.test(command)) resolveTarget(command);
  }
  return ofCommand(command, args, { ...spec, env: { ...env, ...spec.env } });
}

async function ofFound(id: string, spec: TargetSpec, parts: OpenTargetParts): Promise<OpenedTarget> {
  const before = (await parts.used.list()).find((server) => server.id === id);
  const { name: _, ...more } = spec;
  if (before !== undefined) return openTarget({ ...more, ...before.spec }, parts);
  const place = (await parts.places()).find((one) => one.id === id);
  if (place === undefined) throw wrong('This server is not in a configuration any more.');
  return ofEntry(place.entry(), spec, place.name);
}

/** A server that the command finds by its name, too, is typed as that. */
function ofEntry(entry: ServerEntry, spec: TargetSpec, name?: string): OpenedTarget {
  const { target, options } = entryTarget(entry);
  const shown = asHostServer(entry);
  const typed = name === undefined ? typedOf(shown) : shellWord(name);
  return { target, options: { ...options, ...optionsOf(spec) }, address: addressOf(shown), typed };
}

function ofUrl(text: string, spec: TargetSpec): OpenedTarget {
  if (URL_SCHEME.test(text) && !SCHEMES.test(text))
    throw wrong(
      /^file:/i.test(text)
        ? 'Type the path of the file, without file://.'
        : 'The address of a server begins with https:, http:, wss: or ws:.',
    );
  const { kind } = resolveTarget(text);
  const isPlain = kind !== 'http' && kind !== 'websocket';
  const target: Target = isPlain ? text : { url: text, ...(spec.headers && { headers: spec.headers }) };
  return {
    target,
    options: optionsOf(spec),
    address: addressOf({ url: text }),
    typed: typedOf({ url: text }),
  };
}

function ofCommand(command: string, args: readonly string[], spec: TargetSpec): OpenedTarget {
  const shown = { command, args };
  return {
    target: { command, args: [...args], ...settingsOf(spec) },
    options: optionsOf(spec),
    address: addressOf(shown),
    typed: typedOf(shown),
  };
}

/** A file is started by `fullmcp run`, which reports the steps of its handlers. */
function ofScript(file: string, spec: TargetSpec): OpenedTarget {
  const mark = newJournalMark();
  const { env, ...settings } = settingsOf(spec);
  const caller = callerIn(spec);
  const program = runProcess(file, { caller });
  const target = { ...program, ...settings, env: { ...env, ...program.env, [JOURNAL_VARIABLE]: mark } };
  const typed = [shellWord(file), ...(caller === undefined ? [] : callerWords(caller))].join(' ');
  const historyName = resolve(spec.cwd ?? '.', file);
  return { target, options: optionsOf(spec), address: file, historyName, typed, journalMark: mark };
}

function callerIn({ as, scopes = [] }: TargetSpec): Auth | undefined {
  if (as === undefined && scopes.length > 0) throw wrong('Scopes need a caller: name one, such as ada.');
  try {
    return callerOf({
      text: (option) => (option === 'as' ? as : undefined),
      texts: (option) => (option === 'scopes' ? scopes : []),
    });
  } catch (error) {
    // The page has a field for it.
    throw wrong((error as Error).message.replace(/^--as\b/, 'The caller'));
  }
}

function settingsOf({ env, cwd }: TargetSpec): { env?: Readonly<Record<string, string>>; cwd?: string } {
  if (cwd !== undefined && !existsSync(cwd))
    throw wrong(`There is no folder ${cwd} (looked in ${process.cwd()}).`);
  return { ...(env && Object.keys(env).length > 0 && { env }), ...(cwd !== undefined && { cwd }) };
}

function optionsOf({ token, revision }: TargetSpec): ConnectOptions {
  if (revision !== undefined && !(revisions as readonly string[]).includes(revision))
    throw wrong(`The revision must be one of ${revisions.join(', ')}.`);
  return {
    ...(token !== undefined && token !== '' && { auth: token }),
    ...(revision !== undefined && { revision: revision as Revision }),
  };
}

function wrong(message: string): McpError {
  return new McpError('invalid_params', message);
}
