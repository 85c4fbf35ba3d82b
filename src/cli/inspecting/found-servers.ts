// The servers that the page offers: those of this folder, those of the user's hosts, and those that were used before.

import process from 'node:process';
import { parseConfig } from '../../connect/config/file.js';
import type { ServerEntry } from '../../connect/targets/target.js';
import type { FoundServer } from '../../inspector/contract/connection.js';
import { McpError } from '../../protocol/errors.js';
import { cleanLine, shellWord } from '../../tooling/clean.js';
import { hostFiles } from '../hosts/host-servers.js';
import { hosts } from '../hosts/hosts.js';
import { masked } from '../hosts/mask.js';
import type { HostServer } from '../hosts/shapes.js';
import { projectServers } from '../target/configured.js';
import type { UsedServer, UsedServers } from './used-servers.js';

const MAX_SERVERS = 200;
const MAX_ADDRESS = 300;

/** A server of a configuration. It is started only if the user chooses it. */
export interface ConfiguredPlace extends FoundServer {
  /** Reads its entry. Throws an error for the user if, for example, one of its variables is not set. */
  readonly entry: () => ServerEntry;
}

/** All servers of configurations. A file that cannot be read has none. */
export async function configuredPlaces(file?: string): Promise<readonly ConfiguredPlace[]> {
  const project = await projectServers(file).catch(() => new Map<string, never>());
  const own = [...project].map(([name, { entry, file: source }]) =>
    place(name, source, asHostServer(entry), () => entry),
  );
  if (file !== undefined) return own;
  const known = new Set(own.map(({ name, address }) => `${name} ${address}`));
  const others = (await hostFiles().catch(() => [])).flatMap(({ host, servers }) =>
    [...servers]
      .filter(([, { disabled }]) => disabled !== true)
      .map(([name, server]) => place(name, hosts[host]?.title ?? host, server, () => entryOf(name, server))),
  );
  return [...own, ...others.filter(({ name, address }) => !known.has(`${name} ${address}`))].slice(
    0,
    MAX_SERVERS,
  );
}

/** The servers as the page shows them. */
export async function foundServers(
  places: readonly ConfiguredPlace[],
  used: UsedServers,
): Promise<readonly FoundServer[]> {
  const before = await used.list();
  const shown = before.map((server) => ({ ...server, where: whereOf(server, before) }));
  const once = shown.filter(
    ({ address, where }, at) =>
      at === shown.findIndex((other) => other.address === address && other.where === where),
  );
  return [
    ...once.map(({ id, address, where, at, failure }) => ({
      id,
      name: address,
      address: where ?? address,
      source: 'used before',
      lastUsed: at,
      ...(failure !== undefined && { lastFailure: failure }),
    })),
    ...places.map(({ entry, ...place }) => place),
  ];
}

/** The folder and the caller of a server, if another one was used by the same address; it is the only way to tell them apart. */
function whereOf({ address, spec }: UsedServer, all: readonly UsedServer[]): string | undefined {
  if (all.filter((other) => other.address === address).length < 2) return undefined;
  const { cwd, as, scopes = [] } = spec;
  const words = [
    cwd !== undefined && `in ${cwd}`,
    as !== undefined && `as ${as}`,
    scopes.length > 0 && `with ${scopes.join(', ')}`,
  ];
  return cleanLine(words.filter(Boolean).join(' '), MAX_ADDRESS) || undefined;
}

function place(name: string, source: string, server: HostServer, entry: () => ServerEntry): ConfiguredPlace {
  return {
    id: `${source}:${name}`,
    name: cleanLine(name, 64),
    source,
    address: addressOf(server),
    entry,
  };
}

/** The URL or the command line without secrets. */
export function addressOf(server: HostServer): string {
  const { command = '', args = [], url } = masked(server);
  return cleanLine(url ?? [command, ...args].map(shownWord).join(' '), MAX_ADDRESS);
}

/** The target as one would type it, without secrets. */
export function typedOf(server: HostServer): string {
  const { command = '', args = [], url } = masked(server);
  return url === undefined ? `-- ${[command, ...args].map(shownWord).join(' ')}` : shownWord(url);
}

/** A masked word need not be quoted. */
function shownWord(word: string): string {
  return word === '••••' ? word : shellWord(word);
}

/** The part of an entry that its address is made of. */
export function asHostServer(entry: ServerEntry): HostServer {
  if ('command' in entry) return { command: entry.command, ...(entry.args && { args: [...entry.args] }) };
  return 'url' in entry ? { url: entry.url } : {};
}

function entryOf(name: string, server: HostServer): ServerEntry {
  const text = JSON.stringify({ mcpServers: { [name]: server } });
  const entry = parseConfig(text, { env: process.env }).mcpServers[name];
  if (entry === undefined)
    throw new McpError('invalid_params', `The server ${JSON.stringify(name)} cannot be read.`);
  return entry;
}
