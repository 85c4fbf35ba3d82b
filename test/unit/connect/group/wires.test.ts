import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../../src/client.js';
import type { GroupClient } from '../../../../src/connect/group/group.js';
import { createServer, resource, tool } from '../../../../src/index.js';
import { serve } from '../../../../src/node.js';
import { isAlive } from '../../../support/processes.js';
import { slowUser } from '../../../support/slow-user.js';
import { until } from '../../../support/until.js';
import { startServer } from '../fixtures/http-servers.js';
import { script } from '../fixtures/processes.js';
import { namesOf } from './group-servers.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-group-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => void vi.useRealTimers());

const local = createServer({ name: 'local', version: '1', tools: { here: tool({ run: () => 'here' }) } });

describe('a group over real wires', () => {
  test('combines processes, URLs and a server in this process, and stops the processes', async () => {
    const http = await startServer('both');
    const session = await startServer('sessions');
    const group = await connect({
      mcpServers: {
        child: { command: process.execPath, args: [script, 'modern'] },
        old: { command: process.execPath, args: [script, 'session'] },
        web: { url: http.url },
        session: { url: session.url },
        missing: { command: 'no-such-command-anywhere' },
        local: { target: local },
      },
    });
    const problems: string[] = [];
    group.on('problem', ({ message }) => problems.push(message));
    expect(http.requests).toEqual([]);
    expect(await namesOf(group.tools())).toEqual([
      'child_pid',
      'old_pid',
      'web_hello',
      'session_hello',
      'local_here',
    ]);
    expect(problems.filter((message) => message.startsWith('missing: '))).toHaveLength(1);
    const pids = await Promise.all(
      ['child_pid', 'old_pid'].map(async (name) => Number((await group.callTool(name)).text)),
    );
    expect(pids.every(isAlive)).toBe(true);
    expect((await group.callTool('web_hello')).text).toBe('hello');
    expect((await group.callTool('session_hello')).text).toBe('hello');
    expect((await group.callTool('local_here')).text).toBe('here');
    expect([...group.servers.values()].map(({ status }) => status)).toEqual([
      'ready',
      'ready',
      'ready',
      'ready',
      'failed',
      'ready',
    ]);
    const [child] = pids as [number, number];
    await group.remove('child');
    await until('the process is gone', () => !isAlive(child));
    expect((await group.callTool('old_pid')).text).toBe(String(pids[1]));
    await group.close();
    await until('the other process is gone', () => !isAlive(pids[1] as number));
    await Promise.all([http.close(), session.close()]);
  });

  test('is read from a file, with variables, and rejected if a variable is not set', async () => {
    const path = join(folder, 'mcp.json');
    writeFileSync(
      path,
      JSON.stringify({
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config
        servers: { child: { type: 'stdio', command: '${GROUP_TEST_NODE}', args: [script, 'modern'] } },
      }),
    );
    process.env['GROUP_TEST_NODE'] = process.execPath;
    try {
      await using group = (await connect(path)) as GroupClient;
      expect(group.servers.get('child')?.status).toBe('idle');
      expect(await namesOf(group.tools())).toEqual(['child_pid']);
    } finally {
      delete process.env['GROUP_TEST_NODE'];
    }
    await expect(connect(path)).rejects.toMatchObject({
      code: 'invalid_params',
      message: expect.stringContaining('GROUP_TEST_NODE'),
    });
  });

  test.each(['2026-07-28', '2025-11-25'] as const)(
    'asks, reports progress and announces changes through a server that speaks %s',
    async (revision) => {
      const server = createServer({
        name: 'asker',
        version: '1',
        changes: true,
        secret: 'a secret that is long enough for a test',
        resources: { 'x://1': resource({ read: () => 'one' }) },
        tools: {
          ask: tool({
            run: async (_, ctx) => {
              ctx.progress(1, 2);
              const answer = await ctx.elicit('who', {
                message: 'Who?',
                schema: z.object({ name: z.string() }),
              });
              return answer.action === 'accept' ? answer.content.name : answer.action;
            },
          }),
        },
      });
      await using http = await serve(server, { port: 0, signals: false });
      const userTakes = slowUser();
      await using group = await connect(
        { mcpServers: { web: { url: http.url }, local: { target: local } } },
        {
          revision,
          timeoutMs: 10_000,
          async elicit() {
            await userTakes(30_000);
            return { action: 'accept', content: { name: 'Ada' } };
          },
        },
      );
      const progress: number[] = [];
      const { text } = await group.callTool(
        'web_ask',
        {},
        { onProgress: (at) => progress.push(at.progress) },
      );
      expect(text).toBe('Ada');
      expect(progress).toEqual([1]);
      expect((await group.member('web')).server.revision).toBe(revision);
      const changes: unknown[] = [];
      await group.subscribe({ tools: true, uris: ['x://1'] }, { onChange: (change) => changes.push(change) });
      server.tool('more', {}, () => 'more');
      server.changed.resource('x://1');
      await until('both are reported', () => changes.length === 2);
      expect(changes).toContainEqual({ kind: 'resource', uri: 'x://1' });
      expect(changes).toContainEqual({ kind: 'tools' });
      expect(await namesOf(group.tools())).toEqual(['web_ask', 'web_more', 'local_here']);
    },
  );
});
