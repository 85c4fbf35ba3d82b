import { createServer, type Middleware } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { quickjs } from 'fullmcp/code';
import { serve } from 'fullmcp/node';
import { fromOpenAPI } from 'fullmcp/openapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/model/client.js';
import { textTokens, toolTokens } from '../../src/tooling/lint/tokens.js';
import { companyDocument } from './support/company/company.js';
import { type CompanyApi, startCompanyApi } from './support/company/company-api.js';
import { jobs } from './support/company/jobs.js';

// An API of 2,500 operations behind the two tools of code mode, with a model that writes programs.

/** The tokens that each way costs, printed at the end. The figures of docs/code-mode.md are from here. */
const figures = { listedPlain: 0, listedCode: 0, plain: 0, code: 0, calls: 0 };
/** The calls of the program that is running, and their tokens in the context of a model that makes them one by one. */
const inner = { names: new Set<string>(), calls: 0, tokens: 0 };

const note: Middleware = async (call, next) => {
  const outcome = await next(call);
  const name = String(call.params['name']);
  if (call.method !== 'tools/call' || ['search_tools', 'run_code'].includes(name)) return outcome;
  inner.names.add(name);
  inner.calls++;
  const request = JSON.stringify({ name, arguments: call.params['arguments'] });
  inner.tokens += textTokens(request) + textTokens(textOf(outcome));
  return outcome;
};

let api: CompanyApi;
let client: Client;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  api = await startCompanyApi();
  const definitions = await fromOpenAPI(companyDocument(), { baseUrl: api.baseUrl, output: 'check' });
  const options = { ...definitions, logger: () => undefined };
  const plain = createServer(options);
  const plainClient = await connect(plain);
  const all = (await plainClient.tools().all()) as never[];
  expect(all).toHaveLength(2500);
  figures.listedPlain = all.map(toolTokens).reduce((sum, tokens) => sum + tokens, 0);
  await plainClient.close();
  await plain.close();
  const server = createServer({ ...options, use: [note], code: { engine: quickjs() } });
  const serving = await serve(server, { port: 0, signals: false });
  client = await connect(serving.url);
  closing.push(
    () => client.close(),
    () => serving.close(),
    () => server.close(),
    async () => api[Symbol.asyncDispose](),
  );
}, 120_000);

afterAll(async () => {
  for (const close of closing) await close();
  const { listedPlain, listedCode, plain, code, calls } = figures;
  console.log(
    `definitions: ${listedPlain} tokens as plain tools, ${listedCode} with code mode; ${jobs.length} jobs with ${calls} calls: ${plain} tokens of calls and results one by one, ${code} tokens of searches, programs and results`,
  );
});

test('a model sees at most 1,500 tokens of an API with 2,500 operations', async () => {
  const listed = (await client.tools().all()) as never[];
  figures.listedCode = listed.map(toolTokens).reduce((sum, tokens) => sum + tokens, 0);
  expect(figures.listedCode).toBeLessThanOrEqual(1500);
  // Even a host that passes everything on, titles and hints included, sends no more.
  expect(textTokens(JSON.stringify(listed))).toBeLessThanOrEqual(1500);
  expect(figures.listedPlain).toBeGreaterThan(100 * figures.listedCode);
});

describe('a program does the job', () => {
  test.each(jobs)('$job', async ({ search, program, value, changes }) => {
    api.reset();
    Object.assign(inner, { names: new Set<string>(), calls: 0, tokens: 0 });
    let tokens = 0;
    let found = '';
    for (const query of search) {
      const lines = textOf(await client.callTool('search_tools', { query }));
      tokens += textTokens(JSON.stringify({ query })) + textTokens(lines);
      found += `${lines}\n`;
    }
    const result = await client.callTool('run_code', { code: program });
    const text = textOf(result);
    tokens += textTokens(JSON.stringify({ code: program })) + textTokens(text);
    expect(text).not.toContain('Line ');
    expect((result.data as { result: unknown }).result).toEqual(value());
    expect([...api.changes].sort()).toEqual([...(changes?.() ?? [])].sort());
    // The model has read a declaration of each tool that its program calls.
    expect(inner.names.size).toBeGreaterThan(0);
    for (const name of inner.names) expect(found).toContain(`tools.${name}(`);
    figures.code += tokens;
    figures.plain += inner.tokens;
    figures.calls += inner.calls;
    expect(api.requests).toBe(inner.calls);
  });
});

function textOf(result: object): string {
  const { content: blocks } = result as { readonly content: readonly { readonly text?: string }[] };
  return blocks.map(({ text = '' }) => text).join('\n');
}
