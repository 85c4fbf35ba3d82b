import type { Command } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import {
  LOCK_FILE,
  LOCK_OPTIONS,
  pinChanges,
  printPinChanges,
  readLock,
} from '../../manifest/pin-changes.js';
import { offeredNow } from '../../manifest/pinned-servers.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp verify`. */
export const verify: Command = {
  usage: '[config.json | name=target … | name …]',
  details:
    'Compares what servers offer now with the lock file that `fullmcp lock` or a gateway wrote. Exits with 1 if anything was added, removed,\nchanged, renamed or exchanged, or if a server is not pinned.',
  words: [0, 100],
  options: { ...TARGET_OPTIONS, ...LOCK_OPTIONS },
  examples: [
    { line: 'fullmcp verify mcp.json', says: 'Every server of a config, for CI.' },
    {
      line: 'fullmcp verify shop=https://example.com/mcp',
      says: 'One server, by the name that it is pinned under.',
    },
  ],
  json: '{ ok: boolean, file: string, servers: string[], changes: { server: string, kind: "server" | "tool" | "prompt" | "resource" | "template", name: string, change: "added" | "removed" | "changed" | "renamed" | "swapped", was?: string }[] }; ok is false if the exit code is 1',
  run: async (input) => {
    const { out } = input;
    const file = input.text('lock') ?? LOCK_FILE;
    const lock = await readLock(file);
    if (lock === undefined)
      throw usageError(`The lock file ${file} does not exist. Make it with: fullmcp lock`);
    const now = await offeredNow(input);
    const changes = pinChanges(lock, now);
    const answer = { ok: changes.length === 0, file, servers: [...now.keys()], changes };
    printPinChanges(changes, out);
    if (changes.length > 0)
      throw new FoundError(
        `${changes.length} ${changes.length === 1 ? 'difference' : 'differences'} from ${file}. If they are right, accept them with: fullmcp lock`,
        answer,
      );
    out.json(answer);
    if (!out.isJson)
      out.note(`${now.size === 1 ? '1 server is' : `${now.size} servers are`} as ${file} says.`);
  },
};
