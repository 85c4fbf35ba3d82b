import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from 'fullmcp/node';
import { afterAll } from 'vitest';

/** Serves until the tests of the file have ended; returns the URL. */
export async function served(server: Parameters<typeof serve>[0]): Promise<string> {
  const running = await serve(server, { port: 0 });
  afterAll(() => running.close());
  return running.url;
}

/** A folder that is removed after the tests of the file. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fullmcp-check-'));
  afterAll(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A manifest in a file, with these tools, and these other fields. */
export async function manifestFile(
  path: string,
  tools: readonly object[],
  more: object = {},
): Promise<string> {
  const manifest = {
    fullmcp: 'manifest',
    version: 1,
    server: { name: 'shop', version: '1.2.3' },
    revision: '2026-07-28',
    capabilities: { tools: {} },
    tools,
    resources: [],
    templates: [],
    prompts: [],
    ...more,
  };
  await writeFile(path, JSON.stringify(manifest));
  return path;
}

/** Characters that must never reach a terminal. */
export const UNSAFE = ['\u001b', '\u0007', '\u009b', '\u202e', '\u200b', '\u2066', '\u{e0041}'];
export const HOSTILE = `\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp.exe\u200b\u2066\u{e0041}`;
