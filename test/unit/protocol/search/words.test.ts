import { describe, expect, it } from 'vitest';
import { singular } from '../../../../src/protocol/model/search/singular.js';
import { ToolIndex } from '../../../../src/protocol/model/search/tool-index.js';
import { toolWords } from '../../../../src/protocol/model/search/tool-words.js';
import { wordsOf } from '../../../../src/protocol/model/search/words.js';

const all = (text: string): string[] => wordsOf(text).flatMap(({ text: word, parts }) => [word, ...parts]);

describe('the words of a string', () => {
  it('are split at cases, underscores, dashes and dots', () => {
    expect(all('create_pull-request')).toEqual(['create', 'pull', 'request']);
    expect(all('createPullRequest')).toEqual(['createpullrequest', 'create', 'pull', 'request']);
    expect(all('HTTPServer v2')).toEqual(['httpserver', 'http', 'server', 'v2']);
    expect(all('EC2Instance URLs k8s')).toEqual(['ec2instance', 'ec2', 'instance', 'urls', 'k8s']);
    expect(all('GitHub')).toEqual(['github', 'git', 'hub']);
    expect(all('users.list({id})')).toEqual(['users', 'list', 'id']);
    expect(all('  ')).toEqual([]);
  });

  it('are found in other scripts, too', () => {
    expect(all('Löschen Café')).toEqual(['loschen', 'cafe']);
    expect(all('удалитьФайл')).toEqual(['удалитьфаил', 'удалить', 'фаил']);
    expect(all('天気予報')).toEqual(['天気', '気予', '予報']);
    expect(all('削除 delete')).toEqual(['削除', 'delete']);
    expect(all('👋 \ud83d broken')).toEqual(['broken']);
  });

  it('are cut if they are too long', () => {
    expect(all('x'.repeat(1000))).toEqual(['x'.repeat(40)]);
  });

  it('have a singular', () => {
    const words = [
      'invoices',
      'queries',
      'boxes',
      'addresses',
      'status',
      'analysis',
      'access',
      'dns',
      'files',
    ];
    expect(words.map(singular)).toEqual([
      'invoice',
      'query',
      'box',
      'address',
      'status',
      'analysis',
      'access',
      'dns',
      'file',
    ]);
  });
});

describe('the words of a tool', () => {
  it('come from its arguments, at any depth', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        filter: { type: 'object', properties: { customerName: { description: 'The buyer' } } },
        lines: { type: 'array', items: { $ref: '#/$defs/line' } },
        kind: { anyOf: [{ properties: { express: {} } }] },
      },
      $defs: { line: { properties: { quantity: {} } } },
    };
    const words = toolWords({ name: 'order', inputSchema });
    for (const word of ['filter', 'customer', 'name', 'buyer', 'line', 'quantity', 'express'])
      expect(words.has(word), word).toBe(true);
  });

  it('are limited, whatever a server lists', () => {
    let deep: object = { properties: { bottom: {} } };
    for (let level = 0; level < 10_000; level++) deep = { properties: { [`level${level}`]: deep } };
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`field${at}`, {}]));
    const words = toolWords({
      name: 'x'.repeat(1e6),
      description: 'word '.repeat(1e6),
      tags: Array.from({ length: 1000 }, (_, at) => `tag${at}`),
      inputSchema: { properties: { ...wide, deep }, anyOf: [deep] } as never,
    });
    expect(words.size).toBeLessThan(300);
    expect(words.has('bottom')).toBe(false);
    const strange = { name: 5, title: {}, description: null, tags: 'no', inputSchema: { properties: [1] } };
    expect(() => toolWords(strange as never)).not.toThrow();
  });
});

describe('a query', () => {
  async function find(query: string, ...names: string[]): Promise<string[]> {
    const index = new ToolIndex<{ name: string }>((tool) => tool);
    const tools = names.map((name) => ({ name }));
    await index.sync(tools);
    return index.search(query, index.subset(tools), 5).map(({ tool }) => tool.name);
  }

  it('finds other words for the same thing, and words that are written together', async () => {
    expect(await find('remove the customer', 'list_customers', 'delete_customer')).toEqual([
      'delete_customer',
      'list_customers',
    ]);
    expect(await find('log in', 'list_logs', 'login')).toEqual(['login', 'list_logs']);
    expect(await find('web hook', 'create_webhook', 'web_search')).toContain('create_webhook');
    expect(await find('weathre', 'get_weather')).toEqual(['get_weather']);
    expect(await find('kube', 'kubernetes_pods')).toEqual(['kubernetes_pods']);
  });

  it('of nothing but common words is searched for as it is', async () => {
    expect(await find('to do', 'add_to_do', 'list_users')).toEqual(['add_to_do']);
  });

  it('cannot be too long', async () => {
    expect(await find(`${'word '.repeat(1000)} weather`, 'weather')).toEqual([]);
  });
});
