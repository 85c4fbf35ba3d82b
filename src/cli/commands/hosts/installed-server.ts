// Turns a target into the server that a host is told to start or to connect to, and finds a name for it.

import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import process from 'node:process';
import { isObject } from '../../../jsonrpc/message.js';
import type { Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import type { HostServer } from '../../hosts/shapes.js';
import { takeTarget } from '../../target/read-target.js';
import { runProcess } from '../../target/run-process.js';

const SCRIPT = /\.(?:[cm]?[jt]s|py)$/i;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export interface NamedServer {
  readonly name: string;
  readonly server: HostServer;
  /** A folder outside of the server's project that the host needs: if it goes, the server does not start. */
  readonly needs?: string;
}

/**
 * Reads the target after the name of the host. In a file that others get as well (`isShared`), paths stay as they were typed; in the
 * user's own they are whole, since a host starts servers in any folder.
 */
export async function installedServer(input: Typed, isShared: boolean): Promise<NamedServer> {
  const typed = { ...input, words: input.words.slice(1) };
  const [word = ''] = typed.words;
  const { needs, ...server } =
    SCRIPT.test(word) && !input.process ? await script(word, input, isShared) : await other(typed);
  const name = input.text('name') ?? nameOf(word, server);
  if (!NAME.test(name))
    throw usageError(`--name must have 1 to 64 letters, digits, _ and -, not ${JSON.stringify(name)}.`);
  return { name, server, ...(needs !== undefined && { needs }) };
}

type Found = HostServer & Pick<NamedServer, 'needs'>;

async function script(word: string, input: Typed, isShared: boolean): Promise<Found> {
  const { command, args, needs } = await starting(isShared ? word : resolve(word), isShared);
  const env = variables(input);
  const cwd = input.text('cwd');
  return {
    ...{ command, args },
    ...(env && { env }),
    ...(cwd !== undefined && { cwd: resolve(cwd) }),
    ...(needs !== undefined && { needs }),
  };
}

/** A file is started by `fullmcp run`, as in every command, so that it may be TypeScript and need not serve by itself. */
async function starting(path: string, isShared: boolean): Promise<Started> {
  if (/\.py$/i.test(path)) {
    const { scriptProcess } = await import('../../../adapters/node/client/host.js');
    const { command, args = [] } = scriptProcess(path);
    return { command, args };
  }
  const anywhere = { command: 'npx', args: ['-y', 'fullmcp', 'run', path] };
  // Another person has Node and this program elsewhere.
  if (isShared) return anywhere;
  // An application does not have the PATH of a shell, and may be offline: it gets whole paths.
  const { command, args } = runProcess(path);
  const [program = '', ...rest] = args;
  // The program of the server's own project is there as long as the server is.
  const own = programFor(path);
  if (own !== undefined) return { command, args: [own, ...rest] };
  // The cache of npx is emptied some day.
  if (/[/\\]_npx[/\\]/.test(program)) return anywhere;
  const needs = passingFolder(program);
  return { command, args, ...(needs !== undefined && { needs }) };
}

/** The program that is installed for a file: in the node_modules of its folder or of one above. */
function programFor(path: string): string | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const program = join(folder, 'node_modules', 'fullmcp', 'dist', 'cli', 'fullmcp.js');
    if (existsSync(program)) return program;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The folder of the package with this program, if somebody may delete it with a project. One that is installed globally is in no project. */
function passingFolder(program: string): string | undefined {
  const at = program.indexOf(`${sep}node_modules${sep}`);
  const isGlobal = at !== -1 && !existsSync(join(program.slice(0, at), 'package.json'));
  return isGlobal ? undefined : dirname(dirname(dirname(program)));
}

interface Started extends Pick<NamedServer, 'needs'> {
  readonly command: string;
  readonly args: readonly string[];
}

async function other(input: Typed): Promise<Found> {
  const { target } = (await takeTarget(input)).target;
  const given = Object.fromEntries(input.texts('header').map(header));
  if (typeof target === 'string' || target instanceof URL) return address(String(target), given);
  if (!isObject(target)) throw usageError('A host cannot be given this target.');
  if (typeof target['url'] === 'string' || target['url'] instanceof URL)
    return address(String(target['url']), { ...(target['headers'] as object | undefined), ...given });
  const { command, args, env, cwd } = target as HostServer;
  return {
    ...(command !== undefined && { command }),
    args: args ?? [],
    ...(env && { env: { ...env, ...variables(input) } }),
    ...(cwd !== undefined && { cwd }),
  };
}

function address(text: string, headers: Readonly<Record<string, string>>): HostServer {
  const url = /^https?:\/\//i.test(text) ? text : /^[\w.-]+:\d+(?:\/|$)/.test(text) ? `http://${text}` : '';
  if (!URL.canParse(url))
    throw usageError(
      `A host needs an http or https URL, a script, a command after \`--\` or the name of a configured server, not ${JSON.stringify(text)}.`,
    );
  return { url, ...(Object.keys(headers).length > 0 && { headers }) };
}

function variables(input: Typed): Readonly<Record<string, string>> | undefined {
  const pairs = input.texts('env').map((text) => {
    const at = text.indexOf('=');
    const value = at > 0 ? text.slice(at + 1) : process.env[text];
    if (value === undefined)
      throw usageError(`--env needs NAME=value, or the name of a variable that is set.`);
    return [at > 0 ? text.slice(0, at) : text, value] as const;
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

function header(text: string): readonly [string, string] {
  const at = text.indexOf(':');
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw usageError('--header needs "Name: value".');
}

/** A name that tells what the server is: of the file or its folder, of the package, or of the domain. */
function nameOf(word: string, { command = '', args = [], url }: HostServer): string {
  if (url !== undefined && /^(?:https?:|[\w.-]+:\d)/i.test(word)) return domainOf(url);
  if (SCRIPT.test(word)) {
    const file = basename(word).replace(SCRIPT, '');
    if (!/^(?:index|main|server|app)$/i.test(file)) return cleaned(file);
    const folders = dirname(resolve(word)).split(/[/\\]/);
    return cleaned(folders.findLast((folder) => !/^(?:src|dist|build|lib|bin|out)$/i.test(folder)) ?? '');
  }
  if (word !== '' && NAME.test(word)) return word;
  const started = [basename(command), ...args].find((part) => !part.startsWith('-') && !RUNNER.test(part));
  return cleaned(
    (started ?? command)
      .replace(/(?<=.)@[^/]*$/, '')
      .split(/[/\\]/)
      .at(-1) ?? '',
  );
}

const RUNNER =
  /^(?:npx|npm|pnpm|yarn|bunx|bun|deno|node|uvx|uv|python3?|docker|run|exec|dlx|x)(?:\.exe|\.cmd)?$/i;

function domainOf(url: string): string {
  const { hostname } = new URL(url);
  if (/^[\d.:[\]]+$/.test(hostname)) return 'server';
  const parts = hostname.split('.').filter((part) => !['mcp', 'www', 'api'].includes(part));
  return cleaned(parts.length > 1 ? (parts.at(-2) ?? '') : (parts[0] ?? ''));
}

function cleaned(text: string): string {
  const name = text.replace(SCRIPT, '').replaceAll(/[^A-Za-z0-9_-]+/g, '-');
  return name.replace(/^-+/, '').slice(0, 64) || 'server';
}
