// The hosts that people use, as they were recorded: the messages and headers that they send, what they ignore, and when they give up. Facts
// of November 2026. Where two records differ, the worse one is here.

export type Fields = Readonly<Record<string, unknown>>;

/** A host as it was recorded. Everything that is left out, the host does not do. */
export interface RecordedHost {
  readonly title: string;
  readonly transport: 'http' | 'stdio';
  readonly revision: '2025-06-18' | '2025-11-25' | '2026-07-28';
  readonly client: { readonly name: string; readonly version: string } & Fields;
  readonly capabilities: Fields;
  /** The ids of each `server/discover` that it sends first. */
  readonly discovers?: readonly (string | number)[];
  /** The revision of the session that it opens if its `server/discover` is refused. In 2026-07-28, it does not show questions. */
  readonly older?: '2025-11-25';
  /** Headers of all its requests. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Variables that its servers get, on stdio. */
  readonly env?: Readonly<Record<string, string>>;
  /** Never sends `MCP-Protocol-Version`, although it has negotiated one. */
  readonly hidesRevision?: boolean;
  /** GET requests that it sends before it knows the server. */
  readonly probes?: readonly string[];
  /** Keeps a stream of the server open while it is connected. */
  readonly listens?: boolean;
  /** Another process of the server that it starts first, on stdio, and the name that it gives itself there. */
  readonly twin?: { readonly name: string; readonly version: string };
  /** `_meta` of each call, besides the progress token. */
  readonly meta?: (call: number) => Fields;
  /** The progress token of a call. */
  readonly token?: (call: number) => number | string;
  /** Connects anew for each call. */
  readonly forgets?: boolean;
  /** Does not send the id of its session with the requests after `initialize`. */
  readonly dropsSession?: boolean;
  /** Ends its sessions with DELETE. */
  readonly ends?: boolean;
  /** The model works with the list of the first connection, and never gets another. */
  readonly freezes?: boolean;
  /** The end of a question: the user answers, the host cancels it by itself, or nobody ever hears of it. */
  readonly question?: 'answered' | 'cancelled' | 'dropped';
  /** Calls tools that can be tasks as tasks of 2025-11-25. */
  readonly tasks?: boolean;
  /** The part of a result that the model gets. */
  readonly reads: 'text' | 'data';
  /** Gives up a call after this time. */
  readonly limitMs: number;
}

const ui = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
const form = { elicitation: {} };
const MINUTE = 60_000;

export const RECORDED_HOSTS: readonly RecordedHost[] = [
  {
    title: 'ChatGPT',
    transport: 'http',
    discovers: ['openai-mcp-discover'],
    revision: '2025-11-25',
    client: { name: 'openai-mcp', version: '1.0.0' },
    capabilities: { experimental: { 'openai/visibility': { enabled: true } }, ...ui },
    headers: {
      'user-agent': 'openai-mcp/1.0.0',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-datadog-trace-id': '1234567890',
      'x-openai-session': 'v1/session',
      'x-openai-subject': 'v1/subject',
    },
    meta: () => ({
      'openai/userAgent': 'ChatGPT/1.2026.231',
      'openai/locale': 'en-US',
      'openai/userLocation': { country: 'US', timezone: 'America/Los_Angeles' },
      'openai/subject': 'v1/subject',
      'openai/session': 'v1/session',
    }),
    ...{ forgets: true, freezes: true, reads: 'data', limitMs: MINUTE },
  },
  ...[false, true].map(
    (dropsSession): RecordedHost => ({
      title: dropsSession ? 'claude.ai, without the id of its session' : 'claude.ai',
      transport: 'http',
      revision: '2025-11-25',
      client: { name: 'Anthropic/ClaudeAI', version: '1.0.0' },
      capabilities: ui,
      headers: { 'user-agent': 'Claude-User', 'x-anthropic-client': 'ClaudeAI' },
      token: (call) => call,
      ...{ dropsSession, forgets: true, freezes: true, reads: 'text', limitMs: MINUTE },
    }),
  ),
  {
    title: 'Claude Desktop, with a local server',
    transport: 'stdio',
    revision: '2025-11-25',
    twin: { name: 'claude-ai', version: '0.1.0' },
    client: { name: 'local-agent-mode-hosted', version: '1.0.0' },
    capabilities: { ...ui, ...form },
    token: (call) => call,
    ...{ freezes: true, question: 'dropped', reads: 'text', limitMs: MINUTE },
  },
  {
    title: 'Cowork',
    transport: 'http',
    discovers: ['server-discover-probe-1'],
    revision: '2026-07-28',
    client: { name: 'claude-code', version: '2.1.273', title: 'Claude Code' },
    capabilities: { roots: {}, ...form },
    headers: { 'user-agent': 'claude-code/2.1.273 (remote_cowork)', 'accept-encoding': 'identity' },
    meta: (call) => ({ 'claudecode/toolUseId': `toolu_${call}` }),
    token: (call) => call,
    ...{ freezes: true, question: 'dropped', reads: 'data', limitMs: 3 * MINUTE },
  },
  {
    title: 'Claude Code without a terminal',
    transport: 'http',
    discovers: ['server-discover-probe-1'],
    revision: '2026-07-28',
    client: { name: 'claude-code', version: '2.1.326', title: 'Claude Code' },
    capabilities: { roots: {}, ...form },
    headers: { 'user-agent': 'claude-code/2.1.326 (sdk-cli)', 'accept-encoding': 'identity' },
    listens: true,
    meta: (call) => ({ 'claudecode/toolUseId': `toolu_${call}` }),
    token: (call) => call,
    ...{ question: 'cancelled', reads: 'data', limitMs: 5 * MINUTE },
  },
  {
    title: 'Claude Code in Claude Desktop',
    transport: 'stdio',
    discovers: ['server-discover-probe-1', 0],
    revision: '2026-07-28',
    client: { name: 'claude-code', version: '2.1.326', title: 'Claude Code' },
    capabilities: { roots: {}, ...form },
    env: { CLAUDE_CODE_ENTRYPOINT: 'claude-desktop' },
    listens: true,
    meta: (call) => ({ 'claudecode/toolUseId': `toolu_${call}` }),
    token: (call) => call,
    ...{ freezes: true, question: 'dropped', reads: 'data', limitMs: MINUTE },
  },
  ...(['stdio', 'http'] as const).map(
    (transport): RecordedHost => ({
      title: `Copilot, over ${transport}`,
      transport,
      discovers: [0],
      ...{ revision: '2026-07-28', older: '2025-11-25' },
      client: { name: 'github-copilot-developer', version: '1.0.89' },
      capabilities: { elicitation: { form: {}, url: {} } },
      token: (call) => call,
      ...{ freezes: true, question: 'answered', reads: 'text', limitMs: MINUTE },
    }),
  ),
  {
    title: 'VS Code',
    transport: 'http',
    revision: '2025-11-25',
    client: { name: 'Visual Studio Code', version: '1.140.0' },
    capabilities: {
      roots: { listChanged: true },
      sampling: {},
      elicitation: { form: {}, url: {} },
      tasks: {
        list: {},
        cancel: {},
        requests: { elicitation: { create: {} }, sampling: { createMessage: {} } },
      },
      ...ui,
    },
    listens: true,
    meta: (call) => ({ 'vscode.conversationId': 'c-1', 'vscode.requestId': `r-${call}` }),
    token: (call) => `token-${call}`,
    ...{ tasks: true, question: 'answered', reads: 'data', limitMs: 60 * MINUTE },
  },
  {
    title: 'Codex',
    transport: 'http',
    revision: '2025-06-18',
    client: { name: 'codex-mcp-client', version: '0.169.0', title: 'Codex' },
    capabilities: { experimental: {}, elicitation: { form: {}, url: {} } },
    headers: { 'user-agent': 'codex-mcp-client/0.169.0', accept: 'text/event-stream, application/json' },
    probes: [
      '/mcp',
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-protected-resource',
      '/mcp/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration/mcp',
      '/mcp/.well-known/openid-configuration',
    ],
    meta: () => ({ threadId: 't-1', 'x-codex-turn-metadata': { turn_id: '1' } }),
    token: (call) => call - 1,
    ...{ freezes: true, ends: true, question: 'answered', reads: 'data', limitMs: MINUTE },
  },
  {
    title: 'Gemini CLI',
    transport: 'http',
    revision: '2025-06-18',
    client: { name: 'gemini-cli-mcp-client', version: '0.61.0' },
    capabilities: { roots: { listChanged: true } },
    hidesRevision: true,
    token: (call) => call,
    ...{ reads: 'data', limitMs: 10 * MINUTE },
  },
  {
    title: 'Goose',
    transport: 'http',
    discovers: [0],
    revision: '2026-07-28',
    client: { name: 'goose-desktop', version: '1.30.0' },
    capabilities: { sampling: {}, roots: {}, elicitation: { form: {}, url: {} }, ...ui },
    meta: (call) => ({ 'agent-session-id': 's-1', 'agent-tool-call-request-id': `call-${call}` }),
    token: (call) => call,
    ...{ question: 'answered', reads: 'text', limitMs: 5 * MINUTE },
  },
  {
    title: 'n8n',
    transport: 'http',
    revision: '2025-11-25',
    client: { name: '@n8n/n8n-nodes-langchain.mcpClientTool', version: '1.2' },
    capabilities: {},
    ...{ forgets: true, reads: 'text', limitMs: MINUTE },
  },
];
