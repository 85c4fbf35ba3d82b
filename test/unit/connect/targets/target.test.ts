import { describe, expect, test } from 'vitest';
import { type ResolvedTarget, resolveTarget, type Target } from '../../../../src/connect/targets/target.js';
import { nameOf } from '../../../../src/connect/targets/target-names.js';
import { McpError } from '../../../../src/protocol/errors.js';

const dispatch = async (): Promise<{ resultType: 'complete' }> => ({ resultType: 'complete' });
const headers = { 'x-key': 'k' };

describe('the kind of a target', () => {
  test.each<[target: Target, place: Partial<ResolvedTarget> & { kind: ResolvedTarget['kind'] }]>([
    ['https://example.com/mcp', { kind: 'http', url: new URL('https://example.com/mcp') }],
    ['HTTP://example.com', { kind: 'http' }],
    ['http://example.com/server.js', { kind: 'http' }],
    ['ws://example.com/mcp', { kind: 'websocket' }],
    ['wss://example.com/mcp', { kind: 'websocket' }],
    [new URL('https://example.com/mcp'), { kind: 'http' }],
    [new URL('wss://example.com/mcp'), { kind: 'websocket' }],
    [new URL('file:///srv/server.js'), { kind: 'script', path: 'file:///srv/server.js' }],
    [new URL('file:///srv/servers.json'), { kind: 'config-file' }],
    [
      { url: 'https://example.com/mcp', headers },
      { kind: 'http', headers },
    ],
    ['server.js', { kind: 'script', path: 'server.js' }],
    ['./a folder/server.mjs', { kind: 'script' }],
    ['C:\\servers\\server.cjs', { kind: 'script' }],
    ['server.ts', { kind: 'script' }],
    ['server.mts', { kind: 'script' }],
    ['server.cts', { kind: 'script' }],
    ['server.py', { kind: 'script' }],
    ['mcp.json', { kind: 'config-file', path: 'mcp.json' }],
    [
      { command: 'npx', args: ['-y', 'foo'] },
      { kind: 'process', server: { command: 'npx', args: ['-y', 'foo'] } },
    ],
    [{ dispatch }, { kind: 'in-process', dispatch }],
    [dispatch, { kind: 'in-process', dispatch }],
    [{ mcpServers: {} }, { kind: 'config', config: { mcpServers: {} } }],
    [['server.js', 'https://example.com'], { kind: 'list', targets: ['server.js', 'https://example.com'] }],
  ])('is recognized: %o', (target, place) => {
    expect(resolveTarget(target)).toMatchObject(place);
  });

  test.each<[target: unknown, words: string]>([
    ['npx -y foo', "{ command: 'npx', args: ['-y', 'foo'] }"],
    ['localhost', '"localhost" is not a target.'],
    ['', '"" is not a target.'],
    ['ftp://example.com', 'is not a target.'],
    ['https://', 'The URL is not valid.'],
    [new URL('ftp://example.com'), '"ftp:" URLs are not targets.'],
    [{}, 'That object is not a target.'],
    [7, 'is not a target.'],
    [null, 'is not a target.'],
  ])('is unknown, and the error explains targets: %o', (target, words) => {
    const error = errorOf(() => resolveTarget(target as Target));
    expect(error).toMatchObject({ code: 'invalid_request' });
    expect(error.message).toContain(words);
    expect(error.message).toContain('A target is a URL (https://, wss://, nats://), { command, args }');
  });
});

describe('the name of a target', () => {
  test.each<[target: Target, name: string]>([
    ['https://me:secret@example.com/mcp?key=secret#secret', 'https://example.com/mcp'],
    ['wss://example.com:8443/mcp?key=secret', 'wss://example.com:8443/mcp'],
    [{ command: 'npx', args: ['-y', 'foo', '--token', 'secret'] }, 'npx -y foo …'],
    [{ command: 'node', args: ['--token=secret', 'server.js'] }, 'node --token=… server.js'],
    [{ command: 'serve', args: ['--token', 'secret', 'more'] }, 'serve --token … more'],
    [{ command: 'node', args: ['--import', 'tsx', 'server.ts', 'x'] }, 'node --import … server.ts …'],
    [{ command: 'python', args: ['-m', 'server'] }, 'python -m server'],
    [{ command: 'server', env: { TOKEN: 'secret' } }, 'server'],
    ['server.py', 'server.py'],
    [dispatch, 'a server in this process'],
  ])('shows no secret: %o', (target, name) => {
    expect(nameOf(resolveTarget(target))).toBe(name);
  });
});

function errorOf(run: () => unknown): McpError {
  try {
    run();
  } catch (error) {
    if (McpError.is(error)) return error;
    throw error;
  }
  throw new Error('It did not throw');
}
