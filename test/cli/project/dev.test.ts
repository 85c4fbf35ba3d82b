import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { connect } from 'fullmcp/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClientV2, HttpV2, StdioV2 } from '../../interop/support/peers.js';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, program, serving } from './support.js';
import { Told } from './told.js';

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

type OfficialClient = InstanceType<typeof ClientV2>;

/** Starts `dev`, and connects a client. Returns the text that `dev` writes to stderr. */
async function connected(client: OfficialClient, over: 'http' | 'stdio', file: string): Promise<Told> {
  const told = new Told();
  if (over === 'http') {
    const { url } = await serving(['dev', file, '--port', '0'], told.set);
    await client.connect(new HttpV2(new URL(url)));
  } else {
    const args = [program, 'dev', file, '--stdio'];
    const transport = new StdioV2({ command: process.execPath, args, stderr: 'pipe' });
    transport.stderr?.on('data', told.add);
    await client.connect(transport);
  }
  onTestFinished(() => client.close());
  return told;
}

describe('fullmcp dev', { timeout: 240_000 }, () => {
  it.each([
    ['http', 'auto', 20],
    ['stdio', 'auto', 20],
    ['http', 'legacy', 4],
    ['stdio', 'legacy', 4],
  ] as const)(
    'keeps an official client connected over %s (%s) through %i edits, a syntax error and an open question',
    async (over, mode, edits) => {
      const folder = await folderWith({ 'server.mjs': source(0) });
      const file = join(folder, 'server.mjs');
      const client = new ClientV2(
        { name: 'official', version: '2' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
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
      const changes = new Told();
      client.fallbackNotificationHandler = async ({ method }) => changes.add(`${method}\n`);
      const told = await connected(client, over, file);
      if (mode === 'auto') await client.listen?.({ toolsListChanged: true });
      const names = async (): Promise<readonly string[]> =>
        (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(({ name }) => name);

      const pending = client.callTool({ name: 'ask', arguments: {} }, { timeout: 600_000 });
      await asked;
      for (let n = 1; n <= edits; n++) {
        if (n === edits / 2) {
          await writeFile(file, 'const = broken;');
          await told.next(/SyntaxError[\s\S]*The old code keeps serving/);
          expect(await names()).toContain(`edit_${n - 1}`);
        }
        // Many editors write another file and rename it.
        await writeFile(`${file}.tmp`, source(n));
        await rename(`${file}.tmp`, file);
        do await changes.next(/tools\/list_changed/);
        while (!(await names()).includes(`edit_${n}`));
      }
      const called = await client.callTool({ name: `edit_${edits}`, arguments: {} });
      expect(called.content[0]).toMatchObject({ text: `edit ${edits}` });
      answer({ action: 'accept', content: { word: 'kept' } });
      expect((await pending).content[0]).toMatchObject({ text: 'asked: kept' });
      expect(closed).toBe(false);
    },
  );

  it('says truly whether the old code serves when new code does not load, and announces that an edit is undone', async () => {
    const good = `
import { createServer, tool } from 'fullmcp';
export default createServer({
  name: 'edited',
  version: '1.0.0',
  tools: { old: tool({ run: () => 'old code' }), crash: tool({ run: () => process.exit(7) }) },
});
`;
    const folder = await folderWith({ 'server.mjs': good });
    const file = join(folder, 'server.mjs');
    const told = new Told();
    const { url } = await serving(['dev', file, '--port', '0', '--no-inspector'], told.set);
    await told.next(/is loaded/);
    await using client = await connect(url);
    const answer = async (): Promise<string> => (await client.callTool('old', {})).text;

    await writeFile(file, 'const = broken;');
    await told.next(/SyntaxError[\s\S]*The new code does not load\. The old code keeps serving\./);
    expect(await answer()).toBe('old code');
    await writeFile(file, good);
    await told.next(/is reloaded: 2 tools/);
    expect(await answer()).toBe('old code');

    await client.callTool('crash', {}).catch(() => undefined);
    await writeFile(file, 'const = broken;');
    const [shown] = await told.next(
      /SyntaxError[\s\S]*The new code does not load, and the old code does not answer\. Calls fail until you save code that loads\./,
    );
    expect(shown.match(/SyntaxError/g)).toHaveLength(1);
    await expect(answer()).rejects.toThrow();
    await writeFile(file, good);
    await told.next(/is reloaded: 2 tools/);
    expect(await answer()).toBe('old code');
  });

  it('shows the tokens and the findings in one line, and those of a tool when it changes', async () => {
    const folder = await folderWith({ 'server.mjs': source(0) });
    const told = new Told();
    await serving(['dev', join(folder, 'server.mjs'), '--port', '0', '--json'], told.set);
    await told.next(/server\.mjs is loaded: 2 tools, about \d+ tokens(?:, \d+ warnings?)?, \d+ ms\./);
    await writeFile(join(folder, 'server.mjs'), source(1).replace('edit_1', "'edit.0'"));
    await told.next(/ {2}\+ edit\.0 {2}about \d+ tokens\n/);
    await told.next(/ {4}warning: its name has a dot \(OpenAI, Anthropic\)\. Use _ instead of the dot\.\n/);
  });

  it('shows a file that cannot be loaded, and refuses wrong options', async () => {
    const folder = await folderWith({ 'broken.mjs': 'const = 1;' });
    const file = join(folder, 'broken.mjs');
    const broken = await fullmcp(['dev', file]);
    expect(broken).toMatchObject({ exit: 1, stdout: '' });
    expect(broken.stderr).toContain('SyntaxError');
    expect(broken.stderr.match(/SyntaxError/g)).toHaveLength(1);
    expect((await fullmcp(['dev', file, '--json'])).json()).toMatchObject({
      ok: false,
      error: { kind: 'failed', message: expect.stringContaining('SyntaxError') },
    });
    expect((await fullmcp(['dev', join(folder, 'none.ts')])).exit).toBe(2);
    expect((await fullmcp(['dev', 'http://localhost:3000/mcp'])).exit).toBe(2);
    expect((await fullmcp(['dev', file, '--stdio', '--json'])).json()).toMatchObject({
      ok: false,
      error: { kind: 'usage' },
    });
  });
});
