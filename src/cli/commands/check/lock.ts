import type { Command } from '../../command/definition.js';
import {
  LOCK_FILE,
  LOCK_OPTIONS,
  pinChanges,
  printPinChanges,
  readLock,
  writeLock,
} from '../../manifest/pin-changes.js';
import { offeredNow } from '../../manifest/pinned-servers.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp lock`. */
export const lock: Command = {
  usage: '[config.json | name=target … | name …]',
  details:
    'Writes a digest of every tool, prompt, resource and template, and of the instructions, into a lock file: the one that a gateway reads\nwith `pins`. Without words, all servers that this folder configures are pinned. Servers that are not named stay as they are.',
  words: [0, 100],
  options: { ...TARGET_OPTIONS, ...LOCK_OPTIONS },
  examples: [
    { line: 'fullmcp lock mcp.json', says: 'Pins every server of a config.' },
    {
      line: 'fullmcp lock shop=https://example.com/mcp --lock servers.lock.json',
      says: 'Pins one server under a name, and prints what is different from before.',
    },
  ],
  json: '{ ok: true, file: string, servers: string[], changes: { server: string, kind: "server" | "tool" | "prompt" | "resource" | "template", name: string, change: "added" | "removed" | "changed" | "renamed" | "swapped", was?: string }[] }',
  run: async (input) => {
    const { out } = input;
    const file = input.text('lock') ?? LOCK_FILE;
    const before = (await readLock(file)) ?? new Map();
    const now = await offeredNow(input);
    const changes = pinChanges(before, now);
    await writeLock(file, new Map([...before, ...now]));
    printPinChanges(changes, out);
    out.json({ ok: true, file, servers: [...now.keys()], changes });
    if (!out.isJson)
      out.note(`${now.size === 1 ? '1 server is' : `${now.size} servers are`} pinned in ${file}.`);
  },
};
