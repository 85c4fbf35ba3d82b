import { chmodSync, writeFileSync } from 'node:fs';
import type { Manifest } from '../../../tooling/manifest/manifest.js';
import type { Command } from '../../command/definition.js';
import { CommandError } from '../../command/failures.js';
import { loadManifest } from '../../manifest/load-manifest.js';
import { fileToWrite, SAVE_OPTIONS } from '../../results/save.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { cliFile } from './generate/cli-file.js';
import { defaultTarget } from './generate/default-target.js';
import { docsFile } from './generate/docs-file.js';
import { clientFile, typesFile } from './generate/types-file.js';

interface Kind {
  readonly make: (manifest: Manifest, target: unknown) => string;
  readonly details: string;
  readonly examples: Command['examples'];
  readonly isProgram?: boolean;
}

const SAFE = 'Names and descriptions of the server are strings and comments in it, and never code.';

/** `fullmcp generate client`. */
export const generateClient: Command = generated({
  make: clientFile,
  details: `A TypeScript file with the types of all tools and a function that connects: \`client.tool.add({ a: 1, b: 2 })\` is checked by the\ncompiler. ${SAFE} Uses fullmcp/client.`,
  examples: [
    { line: 'fullmcp generate client https://example.com/mcp -o src/shop.ts', says: 'Writes the client.' },
    {
      line: 'fullmcp generate client shop.manifest.json',
      says: 'From a manifest that `fullmcp manifest` has saved.',
    },
  ],
});

/** `fullmcp generate types`. */
export const generateTypes: Command = generated({
  make: (manifest) => typesFile(manifest),
  details: `A TypeScript file with the types of the arguments and results of tools, the arguments of prompts, and the URIs of resources. It\nimports nothing. ${SAFE}`,
  examples: [{ line: 'fullmcp generate types ./server.ts -o src/shop-types.ts', says: 'Writes the types.' }],
});

/** `fullmcp generate cli`. */
export const generateCli: Command = generated({
  make: cliFile,
  isProgram: true,
  details: `A program for Node with a subcommand for each tool and an option for each argument. It connects to the target from which it was\nmade, or to that of --target or MCP_TARGET. A tool whose name is not a word for a shell is called tool-1, tool-2 and so on, and arguments\nwithout an option are given with --args. ${SAFE}`,
  examples: [
    {
      line: 'fullmcp generate cli https://example.com/mcp -o shop.mjs && ./shop.mjs add --a 2 --b 40',
      says: 'Writes the program, and calls a tool with it.',
    },
  ],
});

/** `fullmcp generate docs`. */
export const generateDocs: Command = generated({
  make: (manifest) => docsFile(manifest),
  details:
    'A Markdown page with all tools, resources and prompts and their arguments. Text of the server stays text: no HTML and no links.',
  examples: [{ line: 'fullmcp generate docs ./server.ts -o docs/tools.md', says: 'Writes the reference.' }],
});

function generated({ make, isProgram = false, details, examples }: Kind): Command {
  return {
    usage: '<target or manifest> [-o file]',
    details,
    words: [1, 1],
    options: { ...SAVE_OPTIONS, ...TARGET_OPTIONS },
    examples,
    json: '{ ok: true, text: string, tools: number, file?: string }',
    run: async (input) => {
      const { out } = input;
      const file = fileToWrite(input);
      const manifest = await loadManifest(input.words[0], input);
      const text = make(manifest, defaultTarget(input));
      if (file !== undefined) save(file, text, { force: input.flag('force'), isProgram });
      else out.styled(text.trimEnd());
      out.json({ ok: true, text, tools: manifest.tools.length, ...(file !== undefined && { file }) });
      if (file !== undefined && !out.isJson) out.note(`Written to ${file}.`);
    },
  };
}

function save(
  file: string,
  text: string,
  { force, isProgram }: { readonly force: boolean; readonly isProgram: boolean },
): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' });
    if (isProgram) chmodSync(file, 0o755);
  } catch (error) {
    throw new CommandError('failed', `${file} cannot be written: ${(error as Error).message}.`);
  }
}
