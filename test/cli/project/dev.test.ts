import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ClientV2, HttpV2, StdioV2 } from '../../interop/support/peers.js';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, program, serving } from './support.js';

const EDITS = 20;

function source(n: number): string {
  return `
import { createServer, tool } from 'fullmcp';
import { z } from 'zod';
export default createServer({
  name: 'edited',
  version: '1.0.0',
  tools: {
    edit_${n}: tool({ run: () => 'edit ${n}' }),
    ask: tool({
      run: async (_, { ask }) => {
        const { word } = await ask('word', { message: 'Which word?', schema: z.object({ word: z.string() }) });
        return 'asked: ' + word;
      },
    }),
  },
});
`;
}

describe('fullmcp dev', { timeout: 240_000 }, () => {
  it.each(['http', 'stdio'] as const)(
    'keeps an official client connected over %s through 20 edits, a syntax error and an open question',
    async (over) => {
      const folder = await folderWith({ 'server.mjs': source(0) });
      const file = join(folder, 'server.mjs');
      const client = new ClientV2(
        { name: 'official', version: '2' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
      );
      let answer!: (value: object) => void;
      const asked = new Promise<void>((isAsked) => {
        client.setRequestHandler('elicitation/create', () => {
          isAsked();
          return new Promise((resolve) => {
            answer = resolve;
          });
        });
      });
      let closed = false;
      client.onclose = () => {
        closed = true;
      };
      const transport =
        over === 'http'
          ? new HttpV2(new URL((await serving(['dev', file, '--port', '0'])).url))
          : new StdioV2({
              command: process.execPath,
              args: [program, 'dev', file, '--stdio'],
              stderr: 'pipe',
            });
      await client.connect(transport);
      onTestFinished(() => client.close());
      const names = async (): Promise<readonly string[]> =>
        (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(({ name }) => name);

      const pending = client.callTool({ name: 'ask', arguments: {} }, { timeout: 100_000 });
      await asked;
      for (let n = 1; n <= EDITS; n++) {
        if (n === 10) {
          await writeFile(file, 'const = broken;');
          expect(await names()).toContain('edit_9');
        }
        // Many editors write another file and rename it.
        await writeFile(`${file}.tmp`, source(n));
        await rename(`${file}.tmp`, file);
        await vi.waitFor(async () => expect(await names()).toContain(`edit_${n}`), {
          timeout: 15_000,
          interval: 50,
        });
      }
      const called = await client.callTool({ name: `edit_${EDITS}`, arguments: {} });
      expect(called.content[0]).toMatchObject({ text: `edit ${EDITS}` });
      answer({ action: 'accept', content: { word: 'kept' } });
      expect((await pending).content[0]).toMatchObject({ text: 'asked: kept' });
      expect(closed).toBe(false);
    },
  );

  it('shows a file that cannot be loaded, and refuses wrong options', async () => {
    const folder = await folderWith({ 'broken.mjs': 'const = 1;' });
    const broken = await fullmcp(['dev', join(folder, 'broken.mjs')]);
    expect(broken).toMatchObject({ exit: 1, stdout: '' });
    expect(broken.stderr).toContain('SyntaxError');
    expect((await fullmcp(['dev', join(folder, 'none.ts')])).exit).toBe(2);
    expect((await fullmcp(['dev', join(folder, 'broken.mjs'), '--stdio', '--json'])).json()).toMatchObject({
      ok: false,
      error: { kind: 'usage' },
    });
  });
});
