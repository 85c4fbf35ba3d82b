import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { fullmcp } from '../../cli/support/run-cli.js';

// Runs the command of the workflow that the recipe shows.

const file = new URL('../../../examples/recipes/breaking-change.yml', import.meta.url);

/** The words of the command in the workflow, with other places for its two files. */
async function commandOf(manifest: string, target: string): Promise<string[]> {
  const { jobs } = parse(await readFile(file, 'utf8'));
  const runs: string[] = jobs.contract.steps.flatMap(({ run }: { run?: string }) => run ?? []);
  const command = runs.find((run) => run.startsWith('npx fullmcp '));
  return (command ?? '')
    .split(' ')
    .slice(2)
    .map((word) => ({ 'server.manifest.json': manifest, './server.ts': target })[word] ?? word);
}

async function serveSearch(input: z.ZodObject): Promise<string> {
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    tools: { search: tool({ input, run: () => 'found' }) },
  });
  const serving = await serve(server, { port: 0 });
  onTestFinished(() => serving.close());
  return serving.url;
}

it('the workflow of the recipe passes for a server that has more, and fails for one that needs more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recipe-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const manifest = join(folder, 'server.manifest.json');
  const before = await serveSearch(z.object({ words: z.string() }));
  const { stdout } = await fullmcp(['manifest', before]);
  await writeFile(manifest, stdout);

  const more = await serveSearch(z.object({ words: z.string(), limit: z.int().optional() }));
  expect((await fullmcp(await commandOf(manifest, more))).exit).toBe(0);
  const needs = await serveSearch(z.object({ words: z.string(), limit: z.int() }));
  const failed = await fullmcp(await commandOf(manifest, needs));
  expect(failed.exit).toBe(1);
  expect(failed.stdout).toContain('limit');
});
