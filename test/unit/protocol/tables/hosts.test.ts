import { describe, expect, it } from 'vitest';
import { HOSTS, hostOf } from '../../../../src/protocol/tables/hosts.js';

const title = (name: string, marks = {}): string => hostOf({ name }, marks).title;

describe('the table of hosts', () => {
  it.each([
    ['openai-mcp', 'ChatGPT'],
    ['Anthropic/ClaudeAI', 'claude.ai'],
    ['claude-ai', 'Claude Desktop'],
    ['local-agent-mode-files', 'Claude Desktop'],
    ['claude-code', 'Claude Code'],
    ['Visual Studio Code - Insiders', 'VS Code'],
    ['github-copilot-developer', 'Copilot'],
    ['codex-mcp-client', 'Codex'],
    ['gemini-cli-mcp-client', 'Gemini CLI'],
    ['goose-desktop', 'Goose'],
    ['@n8n/n8n-nodes-langchain.mcpClientTool', 'n8n and LibreChat'],
  ])('knows %s', (name, expected) => {
    expect(title(name)).toBe(expected);
  });

  it('tells the entry points of a program apart by its user agent', () => {
    expect(title('claude-code', { userAgent: 'claude-code/2.1.326 (cli)' })).toBe('Claude Code');
    expect(title('claude-code', { userAgent: 'claude-code/2.1.273 (remote_cowork)' })).toBe('Cowork');
    expect(title('claude-code', { userAgent: 'claude-code/2.1.326 (claude-desktop)' })).toBe(
      'Claude Code in Claude Desktop',
    );
  });

  it('tells them apart on stdio by the variable that the program sets', () => {
    expect(title('claude-code', { entryPoint: 'claude-desktop' })).toBe('Claude Code in Claude Desktop');
    expect(title('claude-code', { entryPoint: 'local-agent' })).toBe('Claude Code in Claude Desktop');
    expect(title('claude-code', { entryPoint: 'cli' })).toBe('Claude Code');
    // Another host that was started in a terminal of Claude Code has the variable, too.
    expect(title('codex-mcp-client', { entryPoint: 'claude-desktop' })).toBe('Codex');
  });

  it('lets every client that it does not know do what it declares', () => {
    for (const name of ['', 'claude-codex', 'my-agent', 'Openai-mcp']) {
      const { asks, tasks, callMs } = hostOf({ name });
      expect([asks.is, tasks.is, callMs.is]).toEqual(['as declared', 'as declared', 50_000]);
    }
    expect(hostOf(undefined).asks.is).toBe('as declared');
  });

  it('lets no client gain by a false user agent or entry point: its row takes the same or more', () => {
    const special = HOSTS.filter(({ entries }) => entries !== undefined);
    expect(special.length).toBeGreaterThan(1);
    for (const { names, entries = [] } of special)
      for (const [name, entry] of names.flatMap((each) => entries.map((one) => [each, one] as const))) {
        const honest = hostOf({ name });
        for (const marks of [{ userAgent: `x (${entry})` }, { entryPoint: entry }]) {
          const { asks, tasks, callMs } = hostOf({ name }, marks);
          expect([asks.is, tasks.is]).toEqual(['never', 'never']);
          expect(callMs.is).toBeLessThanOrEqual(honest.callMs.is);
        }
      }
    for (const userAgent of ['claude-code/2.1.326 (cli)', 'openai-mcp/1.0.0', 'x (remote_cowork)'])
      expect(title('Anthropic/ClaudeAI', { userAgent })).toBe('claude.ai');
  });

  it('has a source with a day for each fact', () => {
    for (const { asks, tasks, callMs, lists, cancelsWithinMs } of HOSTS)
      for (const fact of [asks, tasks, callMs, lists, cancelsWithinMs])
        if (fact !== undefined) expect(fact.source.date).toMatch(/^2026-\d\d-\d\d$/);
  });
});
