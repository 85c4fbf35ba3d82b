// The demands of each host, as data: which rules apply to its servers, how severe they are, and where and when that was learned.

import type { Source } from '../../protocol/tables/hosts.js';
import type { Severity } from './rules.js';

export type HostName = 'chatgpt' | 'claude' | 'copilot' | 'cursor' | 'gemini' | 'codex';

/** A rule of a host, of `HOST_RULES`. */
export interface HostRow {
  readonly rule: string;
  readonly severity: Severity;
  readonly source: Source;
  /** The largest number that the host accepts. */
  readonly limit?: number;
  /** The text before the name of a tool, as the model sees it: `{server}` is the name of the server. */
  readonly prefix?: string;
  /** The characters that the host keeps in a name. */
  readonly characters?: RegExp;
}

/** A demand on the connection to a server, which `fullmcp doctor` examines. */
export interface ConnectionRow {
  readonly check: 'address' | 'get' | 'sessions' | 'login' | 'registration' | 'refresh' | 'login time';
  readonly severity: Exclude<Severity, 'advice'>;
  readonly source: Source;
  /** The only ports that the host connects to. */
  readonly ports?: readonly string[];
  /** The longest time in milliseconds. */
  readonly limit?: number;
}

export interface HostProfile {
  readonly title: string;
  /** The host's programs that these rules were learned from. */
  readonly covers: string;
  /** The names of its programs in `clientInfo` whose behaviour is known. */
  readonly clients: readonly string[];
  readonly rows: readonly HostRow[];
  readonly connection: readonly ConnectionRow[];
}

const OPENAI: Source = {
  by: 'documentation',
  says: 'Rules for plugins and apps in ChatGPT',
  date: '2026-09-02',
};
const ANTHROPIC: Source = {
  by: 'documentation',
  says: 'Review criteria of the connectors directory',
  date: '2026-09-02',
};
const CAPTURE: Source = { by: 'observation', says: 'Requests of ChatGPT', date: '2026-08-27' };
const REUSED: Source = {
  by: 'report',
  says: 'Reports on session ids that are used after a restart',
  date: '2026-04-30',
};
const CLAUDE_CODE: Source = { by: 'observation', says: 'Claude Code 2.1.326', date: '2026-11-17' };
const VS_CODE: Source = { by: 'source code', says: 'VS Code 1.140', date: '2026-10-12' };
const CURSOR: Source = { by: 'report', says: 'Reports on limits of Cursor', date: '2025-09-30' };
const GEMINI: Source = { by: 'source code', says: 'Gemini CLI 0.61', date: '2026-11-17' };
const CODEX: Source = { by: 'source code', says: 'Codex CLI', date: '2026-11-17' };

/** The profiles, by the words that `--for` takes. */
export const PROFILES: Readonly<Record<HostName, HostProfile>> = {
  chatgpt: {
    title: 'ChatGPT',
    covers: 'ChatGPT: apps, plugins and connectors',
    clients: ['openai-mcp'],
    rows: [
      { rule: 'hints-explicit', severity: 'error', source: OPENAI },
      { rule: 'hints-contradict-name', severity: 'error', source: OPENAI },
      { rule: 'generic-executor', severity: 'error', source: OPENAI },
      { rule: 'free-command', severity: 'warning', source: OPENAI },
      { rule: 'mixed-effects', severity: 'error', source: OPENAI },
      { rule: 'text-steers', severity: 'error', source: OPENAI },
      { rule: 'name-promotes', severity: 'warning', source: OPENAI },
      { rule: 'input-excessive', severity: 'warning', source: OPENAI },
      { rule: 'output-internals', severity: 'warning', source: OPENAI },
      { rule: 'output-schema-missing', severity: 'advice', source: CAPTURE },
      {
        rule: 'host-name-long',
        severity: 'warning',
        limit: 64,
        source: { by: 'report', says: 'Reports on names in ChatGPT', date: '2026-09-02' },
      },
    ],
    connection: [
      { check: 'address', severity: 'error', source: OPENAI },
      { check: 'sessions', severity: 'warning', source: REUSED },
      { check: 'login', severity: 'error', source: OPENAI },
      { check: 'registration', severity: 'error', source: OPENAI },
      { check: 'refresh', severity: 'warning', source: OPENAI },
    ],
  },
  claude: {
    title: 'Claude',
    covers: 'the connectors directory, claude.ai, Claude Desktop and Claude Code',
    clients: ['Anthropic/ClaudeAI', 'claude-ai', 'claude-code'],
    rows: [
      { rule: 'title-missing', severity: 'error', source: ANTHROPIC },
      { rule: 'hints-missing', severity: 'error', source: ANTHROPIC },
      { rule: 'hints-contradict-name', severity: 'error', source: ANTHROPIC },
      { rule: 'generic-executor', severity: 'error', source: ANTHROPIC },
      { rule: 'free-command', severity: 'warning', source: ANTHROPIC },
      { rule: 'mixed-effects', severity: 'error', source: ANTHROPIC },
      { rule: 'text-steers', severity: 'error', source: ANTHROPIC },
      { rule: 'host-name-long', severity: 'error', limit: 64, source: ANTHROPIC },
      {
        rule: 'full-name-long',
        severity: 'warning',
        limit: 128,
        prefix: 'mcp__{server}__',
        source: { by: 'report', says: 'Reports on names in Claude Code', date: '2026-10-19' },
      },
      { rule: 'host-description-long', severity: 'warning', limit: 4096, source: CLAUDE_CODE },
    ],
    connection: [
      { check: 'address', severity: 'error', ports: ['443'], source: ANTHROPIC },
      {
        check: 'get',
        severity: 'warning',
        source: { by: 'report', says: 'Reports on adding connectors to claude.ai', date: '2026-06-30' },
      },
      { check: 'sessions', severity: 'warning', source: REUSED },
      { check: 'login', severity: 'error', source: ANTHROPIC },
      { check: 'registration', severity: 'error', source: ANTHROPIC },
      { check: 'login time', severity: 'error', limit: 10_000, source: ANTHROPIC },
    ],
  },
  copilot: {
    title: 'Copilot',
    covers: 'Copilot in VS Code, and Copilot CLI',
    clients: ['Visual Studio Code', 'github-copilot-developer'],
    rows: [
      { rule: 'schema-refused', severity: 'error', source: VS_CODE },
      { rule: 'many-tools', severity: 'warning', limit: 128, source: VS_CODE },
    ],
    connection: [],
  },
  cursor: {
    title: 'Cursor',
    covers: 'Cursor',
    clients: [],
    rows: [
      { rule: 'many-tools', severity: 'warning', limit: 40, source: CURSOR },
      { rule: 'full-name-long', severity: 'warning', limit: 60, prefix: '{server}', source: CURSOR },
    ],
    connection: [],
  },
  gemini: {
    title: 'Gemini CLI',
    covers: 'Gemini CLI',
    clients: ['gemini-cli-mcp-client'],
    rows: [
      { rule: 'output-not-object', severity: 'error', source: GEMINI },
      { rule: 'full-name-long', severity: 'warning', limit: 63, prefix: 'mcp_{server}_', source: GEMINI },
      { rule: 'name-replaced', severity: 'warning', characters: /[^A-Za-z0-9_\-.:]/gu, source: GEMINI },
    ],
    connection: [],
  },
  codex: {
    title: 'Codex',
    covers: 'Codex CLI, its extension for editors, and the ChatGPT desktop app',
    clients: ['codex-mcp-client'],
    rows: [
      { rule: 'full-name-long', severity: 'warning', limit: 64, prefix: 'mcp__{server}__', source: CODEX },
      { rule: 'name-replaced', severity: 'warning', characters: /[^A-Za-z0-9_-]/gu, source: CODEX },
    ],
    connection: [],
  },
};

export const HOST_NAMES = Object.keys(PROFILES) as readonly HostName[];
