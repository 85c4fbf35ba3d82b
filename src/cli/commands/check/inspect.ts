import type { Command, Options, Typed } from '../../command/definition.js';
import { renamed } from '../../command/old-names.js';
import { TARGET_OPTIONS } from '../../target/options.js';

const PAGE_OPTIONS: Options = {
  tool: { type: 'string', value: 'name', help: 'the tool to show first; name=value fills in its form' },
  port: { type: 'string', short: 'p', value: 'n', help: 'the port of the page; default: a free one' },
  'no-open': { type: 'boolean', help: 'print the address, and leave the browser alone' },
  'no-history': { type: 'boolean', help: 'neither show nor keep the calls of earlier visits' },
  ui: { type: 'boolean', help: 'open the page', now: 'fullmcp inspect' },
};

/** `fullmcp inspect`. */
export const inspect: Command = {
  usage: '[target] [name=value …]',
  details:
    'Opens the inspector: a page that calls tools, answers questions, and shows every message. It is served on this computer only, and needs\nthe token in its address. Without a target, the page asks for one. `fullmcp manifest` prints what a server offers.',
  words: [0, 100],
  options: {
    ...TARGET_OPTIONS,
    ...PAGE_OPTIONS,
    output: { type: 'string', short: 'o', help: 'write the manifest', now: 'fullmcp manifest -o' },
  },
  examples: [
    { line: 'fullmcp inspect ./server.ts', says: 'Starts the server and opens the page.' },
    { line: 'fullmcp inspect', says: 'Shows the servers that are configured here, and asks for others.' },
    {
      line: 'fullmcp inspect http://localhost:3000/mcp --tool add a=2 b=40',
      says: 'Opens the form of a tool, filled in.',
    },
    {
      line: 'fullmcp inspect ./server.ts --no-open',
      says: 'Prints the address only, for a browser elsewhere.',
    },
  ],
  json: '{ ok: true, url: string, port: number }, as soon as the page is served',
  run: async (input) => {
    if (!isManifest(input)) return (await import('../../inspecting/inspect-page.js')).inspectPage(input);
    if (input.text('output') === undefined)
      input.out.note(renamed('fullmcp inspect <target> | …', 'fullmcp manifest <target>'));
    return (await import('./manifest.js')).printManifest(input);
  },
};

/**
 * Whether a line of earlier versions asks for the manifest: into a file, or into a pipe, where nobody opens a page. A program that wants the
 * address of the page says --no-open.
 */
function isManifest(input: Typed): boolean {
  if (Object.keys(PAGE_OPTIONS).some((option) => input.flag(option))) return false;
  const targets = input.words.length + (input.process ? 1 : 0);
  return targets === 1 && (input.text('output') !== undefined || input.out.isPiped);
}
