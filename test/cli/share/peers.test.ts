import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { script as everything } from '../../interop/support/everything.js';
import { folder } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

// The cards of servers that others have written.

const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const files = await folder();
const made = ['--name', 'com.example/peer', '--url', 'https://example.com/mcp'];
const older = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const peers = [
  {
    peer: 'server-everything',
    command: ['--', process.execPath, everything, 'stdio'],
    card: { title: 'Everything Reference Server', version: '2.0.0' },
    revisions: older,
  },
  {
    peer: 'a server of the official SDK v2',
    command: ['--', process.execPath, official, 'stdio'],
    card: { title: 'SDK version 2', version: '2.3.4' },
    revisions: [...older, '2026-07-28'],
  },
];

describe.each(peers)('the card of $peer', ({ command, card, revisions }) => {
  it('is made from what the server says and speaks, and is valid', async () => {
    const file = join(files, `${card.version}.card.json`);
    const words = ['publish', 'card', ...made, '--description', 'A peer', '-o', file, '--json', ...command];
    const ran = await fullmcp(words);
    expect(ran.exit, ran.stderr).toBe(0);
    const remote = { type: 'streamable-http', url: 'https://example.com/mcp' };
    expect(ran.json<{ card: object }>().card).toMatchObject({
      ...{ ...card, name: 'com.example/peer', description: 'A peer' },
      remotes: [{ ...remote, supportedProtocolVersions: revisions }],
    });
    expect(await fullmcp(['publish', 'card', file])).toMatchObject({ exit: 0 });
  });

  it('needs a description, since the server has none', async () => {
    const ran = await fullmcp(['publish', 'card', ...made, ...command]);
    expect(ran).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringContaining('--description is missing'),
    });
  });
});
