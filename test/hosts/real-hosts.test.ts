import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { anthropicModel, geminiModel, openaiModel, type PlayedModel } from './models.js';

// Claude Code, Codex and Gemini CLI as npm has them, with a model of ours in place of that of their vendor.

const bin = fileURLToPath(new URL('./node_modules/.bin/', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'fullmcp-real-hosts-'));

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A server with a tool that takes longer than a call may, and one that asks. */
async function hosted() {
  const calls: string[] = [];
  const clients = new Set<string>();
  const object = (properties: object) => ({ type: 'object' as const, properties });
  const text = { type: 'string' };
  const server = createServer({
    name: 'hosted',
    version: '1.0.0',
    secret: 'only for tests, and long enough for that',
    logger: () => undefined,
    auth: () => ({ subject: 'ada' }),
    fallbacks: { tasks: { after: 500 }, asking: 'model' },
    use: [
      (call, next) => {
        if (call.method === 'tools/call') calls.push(String(call.params['name']));
        if (call.peer.client !== undefined) clients.add(call.peer.client.name);
        return next(call);
      },
    ],
    tools: {
      long: tool({
        description: 'Takes long',
        input: object({}),
        task: 'optional',
        async run() {
          // Longer than the call is waited for.
          await new Promise((resolve) => setTimeout(resolve, 1500));
          return 'long is done';
        },
      }),
      ask: tool({
        description: 'Asks',
        input: object({}),
        async run(_input, ctx) {
          const { size } = await ctx.ask('size', { message: 'Which size?', schema: object({ size: text }) });
          return `ordered ${size}`;
        },
      }),
    },
  });
  const running = await serve(server, { port: 0, signals: false });
  onTestFinished(() => running.close());
  return { url: running.url, calls, clients };
}

interface Place {
  readonly home: string;
  readonly server: string;
  readonly model: PlayedModel;
}

interface RealHost {
  readonly title: string;
  readonly client: string;
  readonly model: () => Promise<PlayedModel>;
  /** Writes its configuration. Returns the command, and its variables. */
  readonly prepare: (place: Place) => { command: readonly string[]; env: Readonly<Record<string, string>> };
  /** The result of the tool that asks. */
  readonly asked: RegExp;
  readonly calls: readonly string[];
}

const TASK = 'Call long and ask.';

const hosts: readonly RealHost[] = [
  {
    title: 'Claude Code',
    client: 'claude-code',
    model: anthropicModel,
    prepare({ home, server, model }) {
      const config = join(home, 'mcp.json');
      writeFileSync(config, JSON.stringify({ mcpServers: { hosted: { type: 'http', url: server } } }));
      const servers = ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__hosted'];
      return {
        command: ['claude', '-p', TASK, ...servers, '--model', 'claude-sonnet-4-5'],
        env: {
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: 'none',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          // Tools are in the first request.
          MCP_CONNECTION_NONBLOCKING: '0',
          ENABLE_TOOL_SEARCH: 'false',
        },
      };
    },
    // It declares forms, and cancels them by itself.
    calls: ['long', 'continue_task', 'ask', 'ask', 'answer_question'],
    asked: /^ordered L$/,
  },
  {
    title: 'Codex',
    client: 'codex-mcp-client',
    model: () => openaiModel('mcp__hosted'),
    prepare({ home, server, model }) {
      mkdirSync(join(home, '.codex'));
      const config = [
        'model = "gpt-5"',
        'model_provider = "own"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        '[model_providers.own]',
        'name = "own"',
        `base_url = "${model.url}/v1"`,
        'wire_api = "responses"',
        'env_key = "OWN_KEY"',
        '[mcp_servers.hosted]',
        `url = "${server}"`,
      ];
      writeFileSync(join(home, '.codex', 'config.toml'), config.join('\n'));
      return { command: ['codex', 'exec', '--skip-git-repo-check', TASK], env: { OWN_KEY: 'none' } };
    },
    // It declares forms, and declines them by itself with this approval policy.
    calls: ['long', 'continue_task', 'ask', 'ask', 'answer_question'],
    asked: /ordered L$/,
  },
  {
    title: 'Gemini CLI',
    client: 'gemini-cli-mcp-client',
    model: geminiModel,
    prepare({ home, server, model }) {
      mkdirSync(join(home, '.gemini'));
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        mcpServers: { hosted: { httpUrl: server, trust: true } },
        privacy: { usageStatisticsEnabled: false },
      };
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
      return {
        command: ['gemini', '-p', TASK, '-m', 'gemini-2.5-flash', '--approval-mode', 'yolo'],
        env: {
          GEMINI_API_KEY: 'none',
          GOOGLE_GEMINI_BASE_URL: model.url,
          GEMINI_CLI_TRUST_WORKSPACE: 'true',
        },
      };
    },
    calls: ['long', 'continue_task', 'ask', 'answer_question'],
    asked: /ordered L/,
  },
];

function run([name = '', ...args]: readonly string[], env: object, home: string): Promise<string> {
  const child = spawn(join(bin, name), args, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', () => resolve(printed));
  });
}

describe.each(hosts.map((host) => [host.title, host] as const))('%s', (title, host) => {
  it('lists the tools, completes a long one, and gets the answer to a question, although it shows none', async () => {
    const { url, calls, clients } = await hosted();
    const model = await host.model();
    onTestFinished(model.close);
    const home = mkdtempSync(join(root, `${host.client}-`));
    const { command, env } = host.prepare({ home, server: url, model });
    const printed = await run(command, env, home);
    expect([...clients], printed).toEqual([host.client]);
    expect(calls, `${title} printed: ${printed}; its model got: ${model.results.join('\n')}`).toEqual(
      host.calls,
    );
    expect(model.results.some((result) => result.includes('long is done'))).toBe(true);
    expect(model.results.at(-1)).toMatch(host.asked);
  }, 180_000);
});
