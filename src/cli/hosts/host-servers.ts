// The servers that the hosts of this computer already have.

import { resolve } from 'node:path';
import process from 'node:process';
import { readConfigText } from './config-file.js';
import { hosts, ownPlaces, type Places, projectFileOf } from './hosts.js';
import type { HostServer } from './shapes.js';

export interface HostFile {
  readonly host: string;
  /** `local` is the part of the user's file that is for this folder alone. */
  readonly scope: 'user' | 'project' | 'local';
  readonly file: string;
  readonly servers: ReadonlyMap<string, HostServer>;
  /** Why the file cannot be read. */
  readonly problem?: string;
}

/** Reads the files of all hosts, or of one: those of this folder first. A file that cannot be read has a `problem`. */
export async function hostFiles(only?: string, places: Places = ownPlaces()): Promise<readonly HostFile[]> {
  const names = Object.keys(hosts).filter((name) => only === undefined || name === only);
  const project = names.map((name) => readHostFile(name, 'project', places));
  const local = names.includes('claude-code') ? [readHostFile('claude-code', 'local', places)] : [];
  const user = names.map((name) => readHostFile(name, 'user', places));
  const found = await Promise.all([...project, ...local, ...user]);
  return found.filter((file): file is HostFile => file !== undefined);
}

async function readHostFile(
  name: string,
  scope: HostFile['scope'],
  places: Places,
): Promise<HostFile | undefined> {
  const host = hosts[name];
  const path = host && (scope === 'project' ? projectFileOf(host) : host.userFile(places));
  if (host === undefined || path === undefined) return undefined;
  const file = resolve(path);
  try {
    const text = await readConfigText(file);
    if (text === undefined) return undefined;
    const section = scope === 'local' ? ['projects', process.cwd(), 'mcpServers'] : host.section(text);
    const fields = host.format.read(text, section);
    const servers = new Map([...fields].map(([key, one]) => [key, host.shape.read(one)] as const));
    const usable = [...servers].filter(([, { command, url }]) => command !== undefined || url !== undefined);
    if (scope === 'local' && usable.length === 0) return undefined;
    return { host: name, scope, file, servers: new Map(usable) };
  } catch (error) {
    return scope === 'local'
      ? undefined
      : { host: name, scope, file, servers: new Map(), problem: (error as Error).message };
  }
}
