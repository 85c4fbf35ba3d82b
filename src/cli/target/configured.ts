// The servers that a folder or the hosts of this computer have configured, by name.

import { existsSync } from 'node:fs';
import process from 'node:process';
import { parseConfig, readConfigFile } from '../../connect/config/file.js';
import type { ServerEntry } from '../../connect/targets/target.js';

/** The files of a project in which hosts keep its servers, the first one that names a server wins. */
const PROJECT_FILES = ['mcp.json', '.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'];

export interface ConfiguredServer {
  readonly entry: ServerEntry;
  /** The file that it is configured in. */
  readonly file: string;
}

/** The servers of a file, or of the files of this folder and then of the user's hosts. */
export async function configuredServers(file?: string): Promise<ReadonlyMap<string, ConfiguredServer>> {
  const servers = await projectServers(file);
  if (file === undefined) await addHosts(servers);
  return servers;
}

/** The servers of a file, or of the files of this folder. */
export async function projectServers(file?: string): Promise<Map<string, ConfiguredServer>> {
  const servers = new Map<string, ConfiguredServer>();
  for (const path of file === undefined ? PROJECT_FILES.filter((name) => existsSync(name)) : [file]) {
    const { mcpServers } = await readConfigFile(path, { readFile: withoutComments, env: process.env });
    for (const [name, entry] of Object.entries(mcpServers))
      if (!servers.has(name)) servers.set(name, { entry, file: path });
  }
  return servers;
}

/** The text of a file without its comments, which hosts read in these files. */
async function withoutComments(path: string): Promise<string> {
  const { readText } = await import('../../adapters/node/client/host.js');
  const text = await readText(path);
  const { readJsonTree } = await import('../hosts/formats/json-tree.js');
  try {
    return JSON.stringify(readJsonTree(text).value);
  } catch {
    // The caller reads it again, and says what is wrong.
    return text;
  }
}

/** A server of a host that cannot be used here, such as one whose variables are not set, is left out. */
async function addHosts(servers: Map<string, ConfiguredServer>): Promise<void> {
  const { hostFiles } = await import('../hosts/host-servers.js');
  for (const { file, servers: found } of await hostFiles())
    for (const [name, server] of found) {
      if (servers.has(name)) continue;
      const entry = usableEntry(server);
      if (entry) servers.set(name, { entry, file });
    }
}

function usableEntry(server: object): ServerEntry | undefined {
  try {
    const text = JSON.stringify({ mcpServers: { server } });
    return parseConfig(text, { env: process.env }).mcpServers['server'];
  } catch {
    return undefined;
  }
}
