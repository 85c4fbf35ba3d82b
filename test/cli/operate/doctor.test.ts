import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script as everything } from '../../interop/support/everything.js';
import { type ObservedServer, startObserved } from '../../interop/support/observed-server.js';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { examined } from './support.js';

// The doctor with servers that have nothing wrong, ours and those of others.

const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const demo = demoServer();

describe('the demo', () => {
  it('has nothing wrong, in every step', async () => {
    const { exit, findings, problems } = await examined([demo.url]);
    expect(problems).toEqual([]);
    expect(exit).toBe(0);
    expect(findings.map(({ step }) => step)).toEqual([
      'dns',
      'tcp',
      'tls',
      'http',
      'host',
      'headers',
      'revisions',
      'stream',
      'cors',
      'auth',
      'protocol',
      'tools',
    ]);
  });

  it('is shown as lines for a person, the summary beside them', async () => {
    const { exit, stdout, stderr } = await fullmcp(['doctor', demo.url]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^✓ protocol {8}demo \S+ speaks MCP 2026-07-28 over http\.$/m);
    expect(stdout).toMatch(/^✓ stream {10}It begins after \d+ ms: nothing between holds it back\.$/m);
    expect(stdout).toContain('It speaks MCP 2026-07-28, and 2025-11-25 for older clients.\n');
    expect(stderr).toBe('Nothing is wrong.\n');
  });
});

describe.each([
  {
    peer: 'server-everything',
    script: everything,
    args: ['streamableHttp'],
    path: '/mcp',
    era: '2025-11-25',
  },
  { peer: 'the official SDK v2', script: official, args: ['http'], path: '/mcp', era: '2026-07-28' },
  {
    peer: 'the official SDK v2, sessions',
    script: official,
    args: ['http'],
    path: '/sessions',
    era: '2025-11-25',
  },
])('$peer over HTTP', ({ script, args, path, era }) => {
  let server: ObservedServer;
  beforeAll(async () => {
    server = await startObserved(script, ...args);
  });
  afterAll(() => server.stop());

  it('is examined, and its revisions and its stream are found', async () => {
    const { exit, find } = await examined([`${server.origin}${path}`]);
    expect(find('revisions')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(`It speaks MCP ${era}`),
    });
    expect(find('stream')).toMatchObject({ status: 'ok' });
    expect(find('protocol')).toMatchObject({ status: 'ok' });
    expect(exit).toBe(0);
  });
});

describe('a program', () => {
  it.each([
    ['server-everything', everything],
    ['the official SDK v2', official],
  ])('of %s is started and listed', async (_, script) => {
    const { exit, findings } = await examined(['--', process.execPath, script, 'stdio']);
    expect(findings.map(({ step, status }) => `${step} ${status}`)).toEqual(['protocol ok', 'tools ok']);
    expect(exit).toBe(0);
  });

  it('that ends at once is a failure with advice', async () => {
    const { exit, findings } = await examined(['--', process.execPath, '-e', 'process.exit(3)']);
    expect(exit).toBe(1);
    expect(findings).toMatchObject([
      { step: 'protocol', status: 'failed', fix: expect.stringContaining('stdout') },
    ]);
  });
});

it('The doctor refuses an origin with a path before it sends anything', async () => {
  const { exit, stderr } = await fullmcp(['doctor', demo.url, '--origin', 'https://app.example.com/page']);
  expect(exit).toBe(2);
  expect(stderr).toContain('--origin must be an origin');
});
