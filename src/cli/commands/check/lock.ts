import type { Command, Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { pinChanges, printPinChanges, readLock, writeLock } from '../../manifest/pin-changes.js';
import { offeredNow } from '../../manifest/pinned-servers.js';
import { TARGET_OPTIONS } from '../../target/options.js';

const LOCK_FILE = 'mcp.lock.json';

/** `fullmcp lock`. */
export const lock: Command = {
  usage: '[config.json | target … | name=target …] [--check]',
  details:
    'Writes a digest of every tool, prompt, resource and template, and of the instructions, into a lock file: the one that a gateway reads\nwith `pins`. Without words, all servers that this folder configures are pinned. Servers that are not named stay as they are.\n\nWith --check, nothing is written: what servers offer now is compared with the lock file. Without words, these are the servers of this\nfolder and those that the lock file names by their URL or file. Exits with 1 if anything was added, removed, changed, renamed or\nexchanged, or if a server is not pinned.',
  words: [0, 100],
  options: {
    ...TARGET_OPTIONS,
    lock: { type: 'string', value: 'file', help: `the lock file; default: ${LOCK_FILE}` },
    check: { type: 'boolean', help: 'compare with the lock file, and write nothing' },
  },
  examples: [
    { line: 'fullmcp lock mcp.json', says: 'Pins every server of a config.' },
    {
      line: 'fullmcp lock shop=https://example.com/mcp --lock servers.lock.json',
      says: 'Pins one server under a name, and prints what is different from before.',
    },
    { line: 'fullmcp lock --check', says: 'Every server of this folder and of the lock file, for CI.' },
  ],
  json: '{ ok: boolean, file: string, servers: string[], changes: { server: string, kind: "server" | "tool" | "prompt" | "resource" | "template", name: string, change: "added" | "removed" | "changed" | "renamed" | "swapped", was?: string }[] }; ok is false if the exit code is 1, which only --check has',
  run: async (input) => {
    const file = input.text('lock') ?? LOCK_FILE;
    const before = await readLock(file);
    if (input.flag('check')) return check(before, file, input);
    const { out } = input;
    const now = await offeredNow(input);
    const changes = pinChanges(before ?? new Map(), now);
    await writeLock(file, new Map([...(before ?? []), ...now]));
    printPinChanges(changes, out);
    out.json({ ok: true, file, servers: [...now.keys()], changes });
    if (!out.isJson)
      out.note(`${now.size === 1 ? '1 server is' : `${now.size} servers are`} pinned in ${file}.`);
  },
};

async function check(
  pinned: Awaited<ReturnType<typeof readLock>>,
  file: string,
  input: Typed,
): Promise<void> {
  const { out } = input;
  if (pinned === undefined)
    throw usageError(`The lock file ${file} does not exist. Make it with: fullmcp lock`);
  const now = await offeredNow(input, pinned);
  const changes = pinChanges(pinned, now);
  const answer = { ok: changes.length === 0, file, servers: [...now.keys()], changes };
  printPinChanges(changes, out);
  if (changes.length > 0)
    throw new FoundError(
      changes.length === 1
        ? `1 difference from ${file}. If it is right, accept it with: fullmcp lock`
        : `${changes.length} differences from ${file}. If they are right, accept them with: fullmcp lock`,
      answer,
    );
  out.json(answer);
  if (!out.isJson) out.note(`${now.size === 1 ? '1 server matches' : `${now.size} servers match`} ${file}.`);
}
