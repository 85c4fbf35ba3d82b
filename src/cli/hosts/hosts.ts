// The hosts: where each keeps its servers, and in which form.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { isObject } from '../../jsonrpc/message.js';
import type { ConfigFormat } from './formats/format.js';
import { json } from './formats/json-edit.js';
import { readJsonTree } from './formats/json-tree.js';
import { toml } from './formats/toml-edit.js';
import { yaml } from './formats/yaml-edit.js';
import { codexServer, gooseExtension, type HostShape, mcpServers, opencodeServer } from './shapes.js';

/** The surroundings that decide where files are. */
export interface Places {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

export interface Host {
  readonly title: string;
  readonly format: ConfigFormat;
  readonly shape: HostShape;
  /** The names of the objects around the servers. They may depend on the text of the file. */
  readonly section: (text: string) => readonly string[];
  readonly userFile: (places: Places) => string;
  /** The file in a project's folder; undefined if the host has none. */
  readonly projectFile?: string;
  /** Whether it only starts programs, and cannot connect to an address. */
  readonly isLocalOnly?: boolean;
}

const inMcpServers = (): readonly string[] => ['mcpServers'];

/** The hosts by the names that are typed. */
export const hosts: Readonly<Record<string, Host>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    format: json,
    shape: mcpServers({}),
    section: inMcpServers,
    userFile: (places) => join(appData(places), 'Claude', 'claude_desktop_config.json'),
    isLocalOnly: true,
  },
  'claude-code': {
    title: 'Claude Code',
    format: json,
    shape: mcpServers({ types: ['stdio', 'http'] }),
    section: inMcpServers,
    userFile: ({ env, home }) => join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
    projectFile: '.mcp.json',
  },
  cursor: {
    title: 'Cursor',
    format: json,
    shape: mcpServers({}),
    section: inMcpServers,
    userFile: ({ home }) => join(home, '.cursor', 'mcp.json'),
    projectFile: '.cursor/mcp.json',
  },
  vscode: {
    title: 'VS Code',
    format: json,
    shape: mcpServers({ types: ['stdio', 'http'] }),
    section: () => ['servers'],
    userFile: (places) => join(appData(places), 'Code', 'User', 'mcp.json'),
    projectFile: '.vscode/mcp.json',
  },
  windsurf: {
    title: 'Windsurf',
    format: json,
    shape: mcpServers({ url: 'serverUrl' }),
    section: inMcpServers,
    userFile: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
  },
  'gemini-cli': {
    title: 'Gemini CLI',
    format: json,
    shape: mcpServers({ url: 'httpUrl' }),
    section: inMcpServers,
    userFile: ({ home }) => join(home, '.gemini', 'settings.json'),
    projectFile: '.gemini/settings.json',
  },
  codex: {
    title: 'Codex',
    format: toml,
    shape: codexServer,
    section: () => ['mcp_servers'],
    userFile: ({ env, home }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    projectFile: '.codex/config.toml',
  },
  goose: {
    title: 'Goose',
    format: yaml,
    shape: gooseExtension,
    section: () => ['extensions'],
    userFile: (places) =>
      places.platform === 'win32'
        ? join(appData(places), 'Block', 'goose', 'config', 'config.yaml')
        : join(configFolder(places), 'goose', 'config.yaml'),
  },
  opencode: {
    title: 'opencode',
    format: json,
    shape: opencodeServer,
    section: opencodeSection,
    userFile: (places) => withComments(join(configFolder(places), 'opencode', 'opencode.json')),
    projectFile: 'opencode.json',
  },
};

/** The places of this computer. */
export function ownPlaces(): Places {
  return { platform: process.platform, env: process.env, home: homedir() };
}

/** The file of a host in a project. */
export function projectFileOf({ projectFile }: Host): string | undefined {
  return projectFile === undefined ? undefined : withComments(projectFile);
}

function appData(places: Places): string {
  const { platform, env, home } = places;
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return configFolder(places);
}

function configFolder({ env, home }: Places): string {
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}

/** opencode also reads a file that ends with .jsonc. */
function withComments(file: string): string {
  const other = `${file}c`;
  return file.endsWith('opencode.json') && existsSync(other) ? other : file;
}

/** Both forms are read by version 2, the shorter one by version 1 as well. */
function opencodeSection(text: string): readonly string[] {
  const root = text.replace('\ufeff', '').trim() === '' ? {} : readJsonTree(text).value;
  const servers = isObject(root) && isObject(root['mcp']) ? root['mcp']['servers'] : undefined;
  const isServer = isObject(servers) && typeof servers['type'] === 'string';
  return isObject(servers) && !isServer ? ['mcp', 'servers'] : ['mcp'];
}
