import { writeFile } from 'node:fs/promises';
import { cleanJson } from '../../../tooling/clean.js';
import type { Command, Options, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { loadManifest } from '../../manifest/load-manifest.js';
import { TARGET_OPTIONS } from '../../target/options.js';

const PAGE_OPTIONS: Options = {
  ui: { type: 'boolean', help: 'open the inspector, a page in the browser, instead' },
  tool: {
    type: 'string',
    value: 'name',
    help: 'with --ui: the tool to show first; name=value fills in its form',
  },
  port: {
    type: 'string',
    short: 'p',
    value: 'n',
    help: 'with --ui: the port of the page; default: a free one',
  },
  'no-open': { type: 'boolean', help: 'with --ui: print the address, and leave the browser alone' },
};

/** `fullmcp inspect`. */
export const inspect: Command = {
  usage: '<target> [-o file] | --ui [target] [name=value …]',
  details:
    'The manifest has the name, the revision, the capabilities and the instructions of the server, and its tools, resources, templates and\nprompts, sorted by name. Commit it, and let `fullmcp diff` compare it with the server.\n\nWith --ui, the inspector opens instead: a page that calls tools, answers questions, and shows every message. It is served on this\ncomputer only, and needs the token in its address. Without a target, the page asks for one.',
  words: [0, 100],
  options: {
    ...TARGET_OPTIONS,
    output: { type: 'string', short: 'o', value: 'file', help: 'write it to a file instead of stdout' },
    ...PAGE_OPTIONS,
  },
  examples: [
    { line: 'fullmcp inspect ./server.ts -o server.manifest.json', says: 'Saves it in a file.' },
    {
      line: "fullmcp inspect http://localhost:3000/mcp | jq '.tools[].name'",
      says: 'Prints it, for other programs.',
    },
    { line: 'fullmcp inspect --ui ./server.ts', says: 'Opens the inspector.' },
    {
      line: 'fullmcp inspect --ui http://localhost:3000/mcp --tool add a=2 b=40',
      says: 'Opens the form of a tool, filled in.',
    },
  ],
  json: '{ ok: true, manifest: { fullmcp: "manifest", version: 1, server: object, revision: string, capabilities: object, instructions?: string, tools: Tool[], resources: Resource[], templates: ResourceTemplate[], prompts: Prompt[] }, file?: string }; with --ui, { ok: true, url: string, port: number } as soon as the page is served',
  run: async (input) => {
    if (input.flag('ui')) return (await import('../../inspecting/inspect-page.js')).inspectPage(input);
    checkWords(input);
    const { out } = input;
    const file = input.text('output');
    const manifest = await loadManifest(input.words[0], input);
    const text = cleanJson(JSON.stringify(manifest, undefined, 2));
    if (file !== undefined) await save(file, text);
    else out.styled(text);
    out.json({ ok: true, manifest, ...(file !== undefined && { file }) });
    if (file !== undefined) out.note(`Written to ${file}.`);
  },
};

/** Without the page, there is one target and nothing else. */
function checkWords(input: Typed): void {
  const only = Object.keys(PAGE_OPTIONS).find((option) => input.flag(option));
  if (only !== undefined) throw usageError(`--${only} needs --ui.`);
  const count = input.words.length + (input.process ? 1 : 0);
  if (count === 0) throw usageError('Something is missing: fullmcp inspect <target> [-o file], or --ui.');
  if (count > 1)
    throw usageError(`${JSON.stringify(input.words.at(-1))} is too much: fullmcp inspect <target> [-o file]`);
}

async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, `${text}\n`);
  } catch (error) {
    throw usageError(`The file ${file} cannot be written: ${(error as Error).message}.`);
  }
}
