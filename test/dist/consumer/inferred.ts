// Functions whose results have types without a name of their own: the compiler writes them into the declarations of this program.
import type { Call, CallerStates, McpError, StepTransaction } from 'fullmcp';
import type { AppHost, ReadApp, ToolUi } from 'fullmcp/apps';
import type { Client, GroupClient, Subscription } from 'fullmcp/client';
import type { Gateway } from 'fullmcp/gateway';
import type { AuditReport } from 'fullmcp/middleware';
import type { UpstreamProvider } from 'fullmcp/oauth-proxy';
import type { PostgresStore } from 'fullmcp/postgres';
import type { Skill, SkillsError } from 'fullmcp/skills';
import type { FaultEvent, MockServer, TestClient } from 'fullmcp/testing';
import type { AISDKTool, AnthropicToolResult, OpenAIToolOutput } from 'fullmcp/tools';

export const via = (call: Call) => call.via;
export const challenge = (error: McpError) => error.challenge;
export const states = (all: CallerStates<string, string, undefined>) => all.list();
export const rows = (transaction: StepTransaction) => transaction.query('select 1');
export const csp = (app: ReadApp) => app.csp;
export const capabilities = (host: AppHost) => host.capabilities;
export const visibility = (ui: ToolUi) => ui.visibility;
export const lastError = (client: Client) => client.info().lastError;
export const members = (client: GroupClient) => client.info().servers;
export const accepted = (subscription: Subscription) => subscription.accepted;
export const reload = (gateway: Gateway) => gateway.reload();
export const servers = (gateway: Gateway) => gateway.servers();
export const problems = (report: AuditReport) => report.problems;
export const endpoints = (provider: UpstreamProvider) => provider.endpoints;
export const transact = (store: PostgresStore) =>
  store.transaction(
    () => Promise.resolve(1),
    () => ({ changes: [] }),
  );
export const read = (skill: Skill) => skill.read('SKILL.md');
export const files = (skill: Skill) => skill.resources;
export const mistakes = (error: SkillsError) => error.problems;
export const fault = (event: FaultEvent) => event.fault;
export const calls = (server: MockServer) => server.calls;
export const received = (client: TestClient) => client.received;
export const output = (tool: AISDKTool) => tool.toModelOutput;
export const content = (result: AnthropicToolResult) => result.content;
export const items = (result: OpenAIToolOutput) => result.output;
