// The behaviour of the hosts that people use, in spite of their declarations: each fact with its source and the day on which it was true.

/** The origin of a fact: a page of the vendor, the host's own code, an observation, or a report of somebody else. */
export interface Source {
  readonly by: 'documentation' | 'source code' | 'observation' | 'report';
  readonly says: string;
  /** The day on which it was true. */
  readonly date: string;
}

/** Something that is known of a host. */
export interface HostFact<T> {
  readonly is: T;
  readonly source: Source;
}

/** Whether a host does what it declares, or does not do it, whatever it declares. */
type Kept = 'as declared' | 'never';

/** Whether a host shows questions. `in sessions`: it does as it declares, but not in 2026-07-28, where a question ends its call. */
type Asks = Kept | 'in sessions';

/** The behaviour of a host towards servers. A fact may only take away what the host declares. */
export interface HostBehaviour {
  readonly title: string;
  /** The names that it has in `clientInfo`; one that ends with `*` stands for all names that begin so. */
  readonly names: readonly string[];
  /**
   * The entry points of the program, as in the user agent `claude-code/2.1.273 (remote_cowork)`, or on stdio in the variable
   * `CLAUDE_CODE_ENTRYPOINT`. Default: any.
   */
  readonly entries?: readonly string[];
  /** Whether users are shown the questions of servers. */
  readonly asks: HostFact<Asks>;
  readonly tasks: HostFact<Kept>;
  /** The time after which the host gives up a call. */
  readonly callMs: HostFact<number>;
  /** Whether the model sees a tool that is added while it works: `followed`, or `kept` for a list that is read once. */
  readonly lists: HostFact<'followed' | 'kept'>;
  /** The host itself cancels or declines questions that it does not show, within this time. */
  readonly cancelsWithinMs?: HostFact<number>;
}

const CHATGPT: Source = { by: 'observation', says: 'Requests of ChatGPT', date: '2026-08-27' };
const CHATGPT_LIST: Source = {
  by: 'documentation',
  says: 'Rules for plugins and apps in ChatGPT',
  date: '2026-09-02',
};
const CALL_LIMITS: Source = { by: 'report', says: 'Reports on calls that were ended', date: '2026-10-02' };
const CLAUDE_AI: Source = { by: 'report', says: 'Capabilities of claude.ai', date: '2026-08-12' };
const CLAUDE_AI_LIST: Source = { by: 'report', says: 'Old tools in claude.ai', date: '2026-09-17' };
const COWORK: Source = { by: 'report', says: 'Questions in Cowork', date: '2026-09-16' };
const DESKTOP: Source = { by: 'report', says: 'Questions in Claude Desktop', date: '2026-09-03' };
const CLAUDE_CODE: Source = { by: 'observation', says: 'Claude Code 2.1.326', date: '2026-11-17' };
const VS_CODE: Source = { by: 'source code', says: 'VS Code 1.140', date: '2026-10-12' };
const CODEX: Source = { by: 'source code', says: 'Codex CLI', date: '2026-11-17' };
const CODEX_ASKS: Source = { by: 'observation', says: 'Codex 0.169', date: '2026-11-19' };
const CODEX_LIST: Source = { by: 'report', says: 'Old tools in Codex', date: '2026-09-07' };
const GEMINI: Source = { by: 'source code', says: 'Gemini CLI 0.61', date: '2026-11-17' };
const GOOSE: Source = { by: 'source code', says: 'Goose', date: '2026-10-15' };
const LIBRARIES: Source = { by: 'source code', says: 'Defaults of n8n and LibreChat', date: '2026-11-17' };

const declared = (source: Source): HostFact<Kept> => ({ is: 'as declared', source });
const never = (source: Source): HostFact<Kept> => ({ is: 'never', source });

/** The behaviour of a client that is not in the table: everything as it declares, within the shortest limit that is known. */
const ANY: HostBehaviour = {
  title: 'Any other client',
  names: ['*'],
  asks: declared(CALL_LIMITS),
  tasks: declared(CALL_LIMITS),
  callMs: { is: 50_000, source: CALL_LIMITS },
  lists: { is: 'kept', source: CALL_LIMITS },
};

/** The table. The first row that fits counts. */
export const HOSTS: readonly HostBehaviour[] = [
  {
    title: 'ChatGPT',
    names: ['openai-mcp'],
    asks: never(CHATGPT),
    tasks: never(CHATGPT),
    callMs: { is: 60_000, source: CALL_LIMITS },
    lists: { is: 'kept', source: CHATGPT_LIST },
  },
  {
    title: 'claude.ai',
    names: ['Anthropic/*'],
    asks: never(CLAUDE_AI),
    tasks: never(CLAUDE_AI),
    callMs: { is: 60_000, source: CALL_LIMITS },
    lists: { is: 'kept', source: CLAUDE_AI_LIST },
  },
  {
    title: 'Cowork',
    names: ['claude-code'],
    entries: ['remote_cowork', 'remote_desktop', 'remote_mobile', 'remote_projects'],
    asks: never(COWORK),
    tasks: never(COWORK),
    callMs: { is: 180_000, source: COWORK },
    lists: { is: 'kept', source: COWORK },
  },
  {
    title: 'Claude Code in Claude Desktop',
    names: ['claude-code'],
    entries: ['claude-desktop', 'local-agent'],
    asks: never(DESKTOP),
    tasks: never(DESKTOP),
    callMs: { is: 60_000, source: DESKTOP },
    lists: { is: 'kept', source: DESKTOP },
  },
  {
    title: 'Claude Desktop',
    names: ['claude-ai', 'local-agent-mode-*'],
    asks: never(DESKTOP),
    tasks: never(DESKTOP),
    callMs: { is: 60_000, source: DESKTOP },
    lists: { is: 'kept', source: DESKTOP },
  },
  {
    title: 'Claude Code',
    names: ['claude-code'],
    asks: declared(CLAUDE_CODE),
    tasks: declared(CLAUDE_CODE),
    callMs: { is: 300_000, source: CLAUDE_CODE },
    lists: { is: 'followed', source: CLAUDE_CODE },
    cancelsWithinMs: { is: 1000, source: CLAUDE_CODE },
  },
  {
    title: 'VS Code',
    names: ['Visual Studio Code*'],
    asks: declared(VS_CODE),
    tasks: declared(VS_CODE),
    callMs: { is: 300_000, source: VS_CODE },
    lists: { is: 'followed', source: VS_CODE },
  },
  {
    title: 'Copilot',
    names: ['github-copilot-developer'],
    asks: { is: 'in sessions', source: VS_CODE },
    tasks: never(VS_CODE),
    callMs: { is: 50_000, source: CALL_LIMITS },
    lists: { is: 'kept', source: VS_CODE },
  },
  {
    title: 'Codex',
    names: ['codex-mcp-client'],
    asks: declared(CODEX),
    tasks: never(CODEX),
    callMs: { is: 60_000, source: CODEX },
    lists: { is: 'kept', source: CODEX_LIST },
    // With the approval policy `never`, it declines.
    cancelsWithinMs: { is: 1000, source: CODEX_ASKS },
  },
  {
    title: 'Gemini CLI',
    names: ['gemini-cli-mcp-client'],
    asks: never(GEMINI),
    tasks: never(GEMINI),
    callMs: { is: 600_000, source: GEMINI },
    lists: { is: 'followed', source: GEMINI },
  },
  {
    title: 'Goose',
    names: ['goose*'],
    asks: declared(GOOSE),
    tasks: never(GOOSE),
    callMs: { is: 300_000, source: GOOSE },
    lists: { is: 'followed', source: GOOSE },
  },
  {
    title: 'n8n and LibreChat',
    names: ['@n8n/*', '@librechat/*'],
    asks: never(LIBRARIES),
    tasks: never(LIBRARIES),
    callMs: { is: 60_000, source: LIBRARIES },
    lists: { is: 'kept', source: LIBRARIES },
  },
];

/** The row of a client, by what it says of itself. Nothing of it is verified, so a row may only take away. */
export function hostOf(
  client: { readonly name: string } | undefined,
  { userAgent = '', entryPoint = '' }: { readonly userAgent?: string; readonly entryPoint?: string } = {},
): HostBehaviour {
  const name = client?.name ?? '';
  const comes = (from: string): boolean => entryPoint === from || userAgent.includes(`(${from})`);
  const isRow = ({ names, entries }: HostBehaviour): boolean =>
    names.some((each) => fits(each, name)) && (entries === undefined || entries.some(comes));
  return HOSTS.find(isRow) ?? ANY;
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** A source in a few words, for people. */
export function shownSource({ by, says, date }: Source): string {
  return `${says}, ${by} of ${date}`;
}
