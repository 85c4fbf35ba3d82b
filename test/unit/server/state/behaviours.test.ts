import { readFileSync } from 'node:fs';
import { createServer, resource, type ServerOptions, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { describe, expect, test } from 'vitest';
import { behaviours, KNOWN_UNTIL } from '../../../../src/server/state/behaviours.js';
import { modernExchange } from '../../../support/http/modern.js';
import { initializeMessage, jsonHeaders } from '../../../support/http/sessions.js';

type Compatibility = ServerOptions<never, never, never>['compatibility'];

function served(compatibility?: Compatibility) {
  const server = createServer({
    name: 'pinned',
    version: '1.0.0',
    ...(compatibility !== undefined && { compatibility }),
    resources: { 'test://one': resource({ read: () => 'one' }) },
    tools: {
      count: tool({ run: () => 42 }),
      list: tool({ run: () => [1, 2] }),
      object: tool({ run: () => ({ a: 1 }) }),
    },
  });
  const handler = createHandler(server);
  const post = async (headers: object, body: string) => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
    });
    return handler(request);
  };
  return {
    server,
    async modern(method: string, params: Record<string, unknown>) {
      const { headers = {}, body = '' } = modernExchange(method, params);
      return (await post(headers, String(body))).json();
    },
    async older(method: string, params: Record<string, unknown>) {
      const opened = await post(jsonHeaders, JSON.stringify(initializeMessage('2025-11-25')));
      const headers = { ...jsonHeaders, 'mcp-session-id': String(opened.headers.get('mcp-session-id')) };
      return (await post(headers, JSON.stringify({ jsonrpc: '2.0', id: 2, method, params }))).json();
    },
  };
}

const ALL = Object.keys(behaviours);
const missing = ['resources/read', { uri: 'test://none' }] as const;

describe('without "compatibility", a server has the defaults of the installed version', () => {
  const { server, modern, older } = served();

  test('and says which changes those are', () => {
    expect(server.behaviours).toEqual(ALL);
    expect(served(KNOWN_UNTIL).server.behaviours).toEqual(ALL);
  });

  test('so an unknown resource has the number of the revision', async () => {
    expect((await modern(...missing)).error.code).toBe(-32602);
    expect((await older(...missing)).error.code).toBe(-32002);
  });

  test('so a number is sent only as text', async () => {
    const { result } = await modern('tools/call', { name: 'count' });
    expect(result.content).toEqual([{ type: 'text', text: '42' }]);
    expect(result).not.toHaveProperty('structuredContent');
  });
});

describe('with an earlier date, a server keeps the defaults of that day', () => {
  test('before plain values were sent only as text', async () => {
    const { server, modern, older } = served('2026-11-14');
    expect(server.behaviours).toEqual(['missing-resource-as-invalid-params']);
    for (const [name, value] of [
      ['count', 42],
      ['list', [1, 2]],
      ['object', { a: 1 }],
    ] as const) {
      const { result } = await modern('tools/call', { name });
      expect(result.structuredContent).toEqual(value);
      expect(JSON.parse(result.content[0].text)).toEqual(value);
    }
    expect((await modern(...missing)).error.code).toBe(-32602);
    // A client of that revision reads an object.
    const { result } = await older('tools/call', { name: 'count' });
    expect(result.structuredContent).toEqual({ result: 42 });
  });

  test('before the error for an unknown resource had another number', async () => {
    const { server, modern, older } = served('2026-07-27');
    expect(server.behaviours).toEqual([]);
    const { error } = await modern(...missing);
    expect(error).toMatchObject({ code: -32002, data: { uri: 'test://none' } });
    expect((await older(...missing)).error.code).toBe(-32002);
  });
});

test('single changes are switched by their names, whatever the date is', async () => {
  const off = served({ off: ['missing-resource-as-invalid-params'] });
  expect(off.server.behaviours).toEqual(['plain-values-as-text']);
  expect((await off.modern(...missing)).error.code).toBe(-32002);
  const on = served({ date: '2026-01-01', on: ['plain-values-as-text'] });
  expect(on.server.behaviours).toEqual(['plain-values-as-text']);
  expect((await on.modern('tools/call', { name: 'count' })).result).not.toHaveProperty('structuredContent');
});

test.each<[option: unknown, sentence: string]>([
  ['yesterday', `compatibility: yesterday is not a date until "${KNOWN_UNTIL}"`],
  ['2026-02-30', 'compatibility: 2026-02-30 is not a date'],
  [{ date: 20261116 }, 'compatibility: "date" must be a string, not 20261116.'],
  ['2999-01-01', 'the last day that this version knows.'],
  [{ off: ['plain-values'] }, `"plain-values" must be one of ${ALL}`],
  [{ on: ['toString'] }, '"toString" must be one of'],
  [{ on: ['plain-values-as-text'], off: ['plain-values-as-text'] }, 'either in "on" or in "off".'],
  [{ flags: [] }, 'flags'],
])('compatibility: %o is rejected with a sentence that says what to write', (option, sentence) => {
  expect(() => served(option as Compatibility)).toThrow(sentence);
});

test('the page lists every change with its date and its sentence, and no change is newer than the last known day', () => {
  const source = readFileSync('src/server/state/behaviours.ts', 'utf8');
  const rows = [...source.matchAll(/\/\*\* (.+) \*\/\n {2}'([a-z-]+)': '([\d-]+)',/g)];
  expect(rows.map(([, , name]) => name)).toEqual(ALL);
  const page = readFileSync('docs/compatibility.md', 'utf8');
  for (const [, sentence, name, date] of rows) {
    expect(page).toContain(`| \`${name}\` | ${date} | ${sentence} |`);
    expect(String(date) <= KNOWN_UNTIL).toBe(true);
  }
  expect(page).toContain(KNOWN_UNTIL);
});
