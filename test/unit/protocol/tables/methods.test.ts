import { describe, expect, test } from 'vitest';
import { isCacheable, isSafe, staleMethods } from '../../../../src/protocol/tables/methods.js';

const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

describe('the table of methods', () => {
  test('a client repeats only methods that do nothing, and the cancellation of a task', () => {
    const safe = ['server/discover', 'prompts/get', 'resources/read', 'completion/complete', 'tasks/get'];
    for (const method of [...lists, ...safe, 'tasks/cancel']) expect(isSafe(method), method).toBe(true);
    const unsafe = [
      'tools/call',
      'tasks/update',
      'subscriptions/listen',
      'initialize',
      'resources/subscribe',
    ];
    for (const method of [...unsafe, 'own/method', '__proto__']) expect(isSafe(method), method).toBe(false);
  });

  test('a client caches only lists, the description of a server, and resources', () => {
    for (const method of [...lists, 'server/discover', 'resources/read'])
      expect(isCacheable(method), method).toBe(true);
    for (const method of ['tools/call', 'prompts/get', 'completion/complete', 'tasks/get', 'own/method'])
      expect(isCacheable(method), method).toBe(false);
  });

  test('a changed list makes its own cached pages stale, and resources also those of templates', () => {
    expect(staleMethods('notifications/tools/list_changed')).toEqual(['tools/list']);
    expect(staleMethods('notifications/prompts/list_changed')).toEqual(['prompts/list']);
    expect(staleMethods('notifications/resources/list_changed')).toEqual([
      'resources/list',
      'resources/templates/list',
    ]);
    for (const other of ['notifications/progress', 'notifications/resources/updated', 'tools/list'])
      expect(staleMethods(other), other).toEqual([]);
  });
});
