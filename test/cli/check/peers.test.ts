import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { script as everything } from '../../interop/support/everything.js';
import { fullmcp } from '../support/run-cli.js';
import { folder } from './support.js';

// The commands that check a server, against servers that others have written.

const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const files = await folder();
const peers = [
  { peer: 'server-everything', command: ['--', process.execPath, everything, 'stdio'], has: 'echo' },
  {
    peer: 'a server of the official SDK v2',
    command: ['--', process.execPath, official, 'stdio'],
    has: 'weather',
  },
];

describe.each(peers)('$peer', ({ peer, command, has }) => {
  it('is inspected, and is the same as its manifest', async () => {
    const file = join(files, `${has}.manifest.json`);
    const inspected = await fullmcp(['manifest', '--json', '-o', file, ...command]);
    expect(inspected.exit).toBe(0);
    const { manifest } = inspected.json<{ manifest: { tools: { name: string }[] } }>();
    const names = manifest.tools.map(({ name }) => name);
    expect(names, peer).toContain(has);
    expect(names).toEqual([...names].sort());
    expect(await fullmcp(['diff', file, ...command])).toMatchObject({ exit: 0, stdout: '' });
  });

  it('is linted', async () => {
    const { exit, json } = await fullmcp(['lint', '--json', '--fail-on', 'never', ...command]);
    const { findings, tokens } = json<{ findings: { rule: string }[]; tokens: { total: number } }>();
    expect(exit).toBe(0);
    expect(findings.map(({ rule }) => rule)).toContain('argument-description-missing');
    expect(tokens.total).toBeGreaterThan(100);
  });
});
