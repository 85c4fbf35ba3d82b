import { writeFile } from 'node:fs/promises';
import { cleanJson } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { loadManifest } from '../../manifest/load-manifest.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp manifest`. */
export const manifest: Command = {
  usage: '<target> [-o file]',
  details:
    'The manifest has the name, the revision, the capabilities and the instructions of the server, and its tools, resources, templates and\nprompts, sorted by name. Commit it, and let `fullmcp diff` compare it with the server.',
  words: [1, 1],
  options: {
    ...TARGET_OPTIONS,
    output: { type: 'string', short: 'o', value: 'file', help: 'write it to a file instead of stdout' },
  },
  examples: [
    { line: 'fullmcp manifest ./server.ts -o server.manifest.json', says: 'Saves it in a file.' },
    {
      line: "fullmcp manifest http://localhost:3000/mcp | jq '.tools[].name'",
      says: 'Prints it, for other programs.',
    },
  ],
  json: '{ ok: true, manifest: { fullmcp: "manifest", version: 1, server: object, revision: string, capabilities: object, instructions?: string, tools: Tool[], resources: Resource[], templates: ResourceTemplate[], prompts: Prompt[], removed?: Tool[] }, file?: string }',
  run: printManifest,
};

/** Prints the manifest of a target, or writes it to the file of `--output`. */
export async function printManifest(input: Typed): Promise<void> {
  const { out } = input;
  const file = input.text('output');
  const found = await loadManifest(input.words[0], input);
  const text = cleanJson(JSON.stringify(found, undefined, 2));
  if (file !== undefined) await save(file, text);
  else out.styled(text);
  out.json({ ok: true, manifest: found, ...(file !== undefined && { file }) });
  if (file !== undefined) out.note(`Written to ${file}.`);
}

async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, `${text}\n`);
  } catch (error) {
    throw usageError(`The file ${file} cannot be written: ${(error as Error).message}.`);
  }
}
