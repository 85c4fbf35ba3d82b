// The host and its file that were typed, and the change of that file.

import { resolve } from 'node:path';
import { closestName } from '../../schema/explain/closest-name.js';
import { clean } from '../../tooling/clean.js';
import type { Options, Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';
import { linesOf } from '../terminal/person.js';
import { backupOf, changeConfigFile, readConfigText } from './config-file.js';
import { type Host, hosts, ownPlaces, projectFileOf } from './hosts.js';
import { masked, maskedLine, maskedText } from './mask.js';
import type { HostServer } from './shapes.js';

export const FILE_OPTIONS: Options = {
  scope: {
    type: 'string',
    choices: ['user', 'project'],
    help: 'the file of the user, which is the default, or of this folder',
  },
  'config-path': { type: 'string', value: 'file', help: 'another file of the same format' },
  'dry-run': { type: 'boolean', help: 'show the change only' },
  yes: { type: 'boolean', short: 'y', help: 'do not ask' },
};

/** The host with a name. */
export function hostNamed(name: string): Host {
  const host = Object.hasOwn(hosts, name) ? hosts[name] : undefined;
  if (host) return host;
  const names = [...Object.keys(hosts), 'json'];
  const close = closestName(name, names);
  throw usageError(
    `fullmcp knows no host ${JSON.stringify(name)}.${close ? ` Did you mean ${JSON.stringify(close)}?` : ''} The hosts: ${names.join(', ')}.`,
  );
}

/** The file that the options name. */
function fileOf(host: Host, input: Typed): string {
  const own = input.text('config-path');
  if (own !== undefined) return resolve(own);
  if (input.text('scope') !== 'project') return host.userFile(ownPlaces());
  const file = projectFileOf(host);
  if (file === undefined) throw usageError(`${host.title} has no file for a project. Leave out --scope.`);
  return resolve(file);
}

export interface FileChange {
  readonly file: string;
  readonly changed: boolean;
  readonly backup?: string;
  /** Another server that had the name before, without its secrets. */
  readonly replaced?: HostServer;
}

/** A server that a file gets. */
interface AddedServer {
  readonly name: string;
  readonly server: HostServer;
}

/** Shows the change of a file, asks, and makes it. The secrets of the server that is added are not printed either. */
export async function changeFile(
  host: Host,
  input: Typed,
  edit: (text: string) => string,
  added?: AddedServer,
): Promise<FileChange> {
  const file = fileOf(host, input);
  const before = await readConfigText(file);
  const after = attempt(host, file, () => edit(before ?? ''));
  if (after === (before ?? '')) return { file, changed: false };
  const known = attempt(host, file, () => serversIn(host, before ?? ''));
  const replaced = added && otherServer(known, added);
  const servers = [...known.values(), ...(added ? [added.server] : [])];
  input.out.note(file);
  // A long line stays whole: the rest of a broken one would have neither a sign nor an indent.
  input.out.styledNote(clean(maskedText(changedLines(before ?? '', after), servers)));
  const facts = { file, ...(replaced && { replaced: masked(replaced) }) };
  if (input.flag('dry-run')) {
    input.out.note('Nothing was written (--dry-run).');
    return { ...facts, changed: false };
  }
  // A question is one line, behind which the answer is typed.
  if (replaced) input.out.note(`${host.title} already has another ${added?.name}: ${maskedLine(replaced)}`);
  await confirm(input, replaced ? 'Replace it?' : `Change ${file}?`);
  const existed = await changeConfigFile(file, (text) => attempt(host, file, () => edit(text)));
  return { ...facts, changed: true, ...(existed && { backup: backupOf(file) }) };
}

/** The servers of a file. */
function serversIn({ format, section, shape }: Host, text: string): ReadonlyMap<string, HostServer> {
  const fields = format.read(text, section(text));
  return new Map([...fields].map(([name, one]) => [name, shape.read(one)] as const));
}

/** The server that has the name of a new one, if it is started in another way or has another address. */
function otherServer(
  known: ReadonlyMap<string, HostServer>,
  { name, server }: AddedServer,
): HostServer | undefined {
  const old = known.get(name);
  if (old === undefined || (old.command === undefined && old.url === undefined)) return undefined;
  const parts = ({ command, args, url }: HostServer): string => JSON.stringify([command, args ?? [], url]);
  return parts(old) === parts(server) ? undefined : old;
}

/** Runs an edit, whose errors then name the file. */
function attempt<T>({ title }: Host, file: string, edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      error.exit,
      `${file} of ${title} cannot be changed safely: ${error.message}. It was left as it is.`,
      { ...error.data, file },
    );
  }
}

/** The changed lines with - and +, and the number of the first one. One edit changes one place, so one block is enough. */
function changedLines(before: string, after: string): string {
  const [old, now] = [before, after].map((text) => text.split(/\r?\n/)) as [string[], string[]];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const removed = old.slice(start, old.length - end).map((line) => `- ${line}`);
  const added = now.slice(start, now.length - end).map((line) => `+ ${line}`);
  return [`@@ line ${start + 1} @@`, ...removed, ...added].join('\n');
}

/** Returns if the user says yes, or has said it before with `--yes`. */
export async function confirm(input: Typed, question: string): Promise<void> {
  if (input.flag('yes')) return;
  const person = input.person();
  if (!input.out.isWatched || !person.isPresent)
    throw usageError('Nothing was changed. Add --yes to change it, or --dry-run to look only.');
  const lines = linesOf(person);
  try {
    const answer = await lines.line(`${clean(question)} (y/N) `, input.signal);
    if (!/^y(?:es)?$/i.test(answer?.trim() ?? '')) throw new CommandError('failed', 'Nothing was changed.');
  } finally {
    lines.close();
  }
}
