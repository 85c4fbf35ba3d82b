// The servers that a folder configures, by name.

import { existsSync } from 'node:fs';
import process from 'node:process';
import { readText } from '../../adapters/node/client/host.js';
import { readConfigFile } from '../../connect/config/file.js';
import type { ServerEntry } from '../../connect/targets/target.js';

/** The files of a project in which hosts keep its servers, the first one that names a server wins. */
const PROJECT_FILES = ['mcp.json', '.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'];

export interface ConfiguredServer {
  readonly entry: ServerEntry;
  /** The file that it is configured in. */
  readonly file: string;
}

/** The servers of a file, or of the files of this folder. */
export async function configuredServers(file?: string): Promise<ReadonlyMap<string, ConfiguredServer>> {
  const servers = new Map<string, ConfiguredServer>();
  for (const path of file === undefined ? PROJECT_FILES.filter((name) => existsSync(name)) : [file]) {
    const { mcpServers } = await readConfigFile(path, { readFile: readText, env: process.env });
    for (const [name, entry] of Object.entries(mcpServers))
      if (!servers.has(name)) servers.set(name, { entry, file: path });
  }
  return servers;
}
