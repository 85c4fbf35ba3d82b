import { createServer, inProcess } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { follow } from '../../../examples/compose/known-tags.js';
import {
  audited,
  counter,
  forToolsOnly,
  rolledOut,
  server,
  shop,
} from '../../../examples/compose/transform.js';

// Runs the code that docs/transform.md shows.

describe('the transformed server of the guide', () => {
  test('serves the changed tools', async () => {
    await using client = await testClient(server);
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['crm_contacts', 'crm_export']);
    expect(await client.tool.crm_contacts({ query: 'Ada' })).toBe('20 contacts of acme like Ada');
    await expect(client.callTool('crm_reindex')).rejects.toThrow('Unknown tool');
    const clerk = inProcess(server, { caller: { subject: 'clerk' } });
    await expect(clerk('tools/call', { name: 'crm_export' })).rejects.toThrow('Unknown tool');
  });

  test('changes definitions', async () => {
    await using client = await testClient(counter);
    expect(await client.tool.increment({ a: 1 })).toBe(2);
  });

  test('wraps a handler', async () => {
    const outer = createServer({ name: 'outer', version: '1.0.0', mount: { '': audited } });
    const call = { name: 'find', arguments: { text: 'Ada', limit: 1 } };
    expect(await inProcess(outer)('tools/call', call)).toMatchObject({ content: [{ text: 'Log in first' }] });
    const ada = inProcess(outer, { caller: { subject: 'ada', claims: { tenant: 'acme' } } });
    expect(await ada('tools/call', call)).toMatchObject({
      content: [{ text: '1 contacts of acme like Ada' }],
    });
  });

  test('serves versions of a tool', async () => {
    await using client = await testClient(shop);
    expect((await client.callTool('search', { terms: ['a', 'b'] })).text).toBe('a and b');
    const old = inProcess(shop, { caller: { subject: 'old', claims: { plan: 'legacy' } } });
    expect(await old('tools/call', { name: 'search', arguments: { query: 'a' } })).toMatchObject({
      content: [{ text: 'Old: a' }],
    });
  });

  test('serves resources and prompts as tools', async () => {
    await using client = await testClient(forToolsOnly);
    expect((await client.callTool('read_resource', { uri: 'crm+crm://help' })).text).toBe(
      'How to use the CRM',
    );
    expect((await client.callTool('get_prompt', { name: 'crm_mail', arguments: { to: 'Ada' } })).text).toBe(
      'user:\nWrite to Ada',
    );
  });

  test('is followed by a client that says which definitions it knows', async () => {
    const shown: (readonly string[])[] = [];
    await using client = await follow(rolledOut, (names) => shown.push(names));
    expect(shown).toEqual([['search']]);
    expect(client.status).toBe('ready');
  });
});
