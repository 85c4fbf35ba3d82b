import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fullmcp } from '../support/run-cli.js';
import { folderWith } from './support.js';
import { Told } from './told.js';

// `fullmcp dev` as a person at a terminal sees it.

function source(tools: string): string {
  return `import { createServer, tool } from 'fullmcp';
import { word } from './word.mjs';
export default createServer({ name: 'edited', version: '1.0.0', tools: { ${tools} } });
`;
}

describe('fullmcp dev at a terminal', { timeout: 120_000 }, () => {
  it('shows the addresses first, then one line, then only what changed, and obeys its keys', async () => {
    const folder = await folderWith({
      'server.mjs': source("'add.it': tool({ run: () => word }), same: tool({ run: () => word })"),
      'word.mjs': "export const word = 'first';\n",
    });
    const file = join(folder, 'server.mjs');
    const told = new Told();
    const pages: string[] = [];
    let stdout = '';
    async function* keys(): AsyncGenerator<string> {
      await told.next(/Keys: o opens/);
      yield 'l';
      yield 'o';
      await writeFile(join(folder, 'word.mjs'), "export const word = 'x';\nconst = 1;\n");
      await told.next(/The new code does not load\. The old code keeps serving\./);
      await writeFile(join(folder, 'word.mjs'), "export const word = 'second';\n");
      await told.next(/is reloaded: 2 tools/);
      yield 'r';
      await told.next(/is reloaded: 2 tools/);
      await writeFile(file, source("'add.it': tool({ run: () => word }), other: tool({ run: () => word })"));
      await told.next(/is reloaded: 2 tools[\s\S]*- same/);
      yield 'q';
    }
    const ran = await fullmcp(['dev', file, '--port', '0'], {
      terminal: true,
      keys: keys(),
      env: { FORCE_COLOR: '0' },
      onStderr: told.set,
      onStdout: (text) => {
        stdout = text;
      },
      openPage: async (page) => void pages.push(page),
    });
    expect(ran.exit).toBe(0);
    expect(stdout).toMatch(/^[^\n]*➜[^\n]*MCP[^\n]*http:[^\n]*\n[^\n]*➜[^\n]*Inspector[^\n]*http:[^\n]*\n/);
    expect(ran.stderr).toMatch(
      /server\.mjs is loaded: 2 tools, about \d+ tokens, \d+ warnings?, \d+ ms\. Press l/,
    );
    expect(stdout).toContain('its name has a dot');
    // The server's own warning says the same.
    expect(ran.stderr).not.toContain('some clients reject');
    expect(pages).toEqual([expect.stringContaining('http://')]);
    expect(ran.stderr).toContain('word.mjs:2:7\n');
    expect(ran.stderr).toMatch(/> 2 \| const = 1;\n {4}\| {7}\^/);
    const [, , afterWord = ''] = ran.stderr.split(/is reloaded: /);
    expect(afterWord).not.toContain('tokens');
    expect(ran.stderr).toMatch(/ {2}\+ other {2}about \d+ tokens/);
    expect(ran.stderr).not.toMatch(/[+~] add\.it/);
  });

  it('has neither colours nor keys in a pipe, and prints the address alone', async () => {
    const folder = await folderWith({
      'server.mjs': source('same: tool({ run: () => word })'),
      'word.mjs': "export const word = 'first';\n",
    });
    const stopping = new AbortController();
    const told = new Told();
    const running = fullmcp(['dev', join(folder, 'server.mjs'), '--port', '0', '--no-inspector'], {
      signal: stopping.signal,
      onStderr: told.set,
    });
    await told.next(/is loaded: 1 tool, about \d+ tokens/);
    stopping.abort();
    const { stdout, stderr } = await running;
    expect(stdout).toMatch(/^http:\/\/\S+\/mcp\n$/);
    expect(stderr).not.toMatch(/Keys/);
  });
});

describe('a file that cannot be loaded', { timeout: 120_000 }, () => {
  it('is shown with the line of the file that is wrong, whichever of its files that is', async () => {
    const folder = await folderWith({
      'entry.mjs': 'const a = 1;\nsyntax error here(\n',
      'main.mjs': "import './inner.mjs';\n",
      'inner.mjs': '// one\nexport const y = ;\n',
      'typed.ts': 'const a: number = 1;\nsyntax error here(\n',
      'throws.mjs': '\n  null.x;\n',
    });
    for (const [name, place, line] of [
      ['entry.mjs', 'entry.mjs:2:8', '> 2 | syntax error here('],
      ['main.mjs', 'inner.mjs:2:18', '> 2 | export const y = ;'],
      ['typed.ts', 'typed.ts:2', 'syntax error here('],
      ['throws.mjs', 'throws.mjs:2:8', '> 2 |   null.x;'],
    ] as const) {
      const { exit, stderr } = await fullmcp(['dev', join(folder, name), '--no-inspector']);
      expect(exit, name).toBe(1);
      expect(stderr).toContain(place);
      expect(stderr).toContain(line);
    }
  });
});
