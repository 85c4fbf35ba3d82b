// The lock file of `lock`: the one that a gateway reads.

import { readIfThere, replaceFile } from '../../adapters/node/files/whole-files.js';
import { compareLists } from '../../connect/gateway/pins/compare.js';
import { type Lock, type PinnedServer, parseLock, printLock } from '../../connect/gateway/pins/lock.js';
import type { PinChange } from '../../connect/gateway/pins/options.js';
import { lists } from '../../connect/routing/lists.js';
import type { ListName } from '../../connect/routing/router.js';
import { cleanLine } from '../../tooling/clean.js';
import { usageError } from '../command/failures.js';
import type { Output } from '../terminal/output.js';

/** Reads a lock file; undefined if it does not exist. */
export async function readLock(file: string): Promise<Lock | undefined> {
  try {
    const text = await readIfThere(file);
    return text === undefined ? undefined : parseLock(text, file);
  } catch (error) {
    throw usageError((error as Error).message);
  }
}

/** Replaces the lock file as a whole. */
export async function writeLock(file: string, lock: Lock): Promise<void> {
  try {
    await replaceFile(file, printLock(lock));
  } catch (error) {
    throw usageError(`The lock file ${file} cannot be written: ${(error as Error).message}.`);
  }
}

/** All differences between what is pinned and what servers offer now. A server that is not pinned is one difference. */
export function pinChanges(lock: Lock, now: ReadonlyMap<string, PinnedServer>): readonly PinChange[] {
  return [...now].flatMap(([server, offered]) => {
    const pinned = lock.get(server);
    if (pinned === undefined)
      return [{ server, kind: 'server' as const, name: server, change: 'added' as const }];
    const advice: PinChange[] =
      pinned.instructions === offered.instructions
        ? []
        : [{ server, kind: 'server', name: 'instructions', change: 'changed' }];
    const kinds = Object.keys(lists) as ListName[];
    return [
      ...advice,
      ...kinds.flatMap((kind) =>
        compareLists(pinned.lists[kind] ?? new Map(), offered.lists[kind] ?? new Map()).map(
          (change): PinChange => ({ server, kind: lists[kind].one, ...change }),
        ),
      ),
    ];
  });
}

/** Writes one line for each difference. */
export function printPinChanges(changes: readonly PinChange[], out: Output): void {
  const marks = { added: '+', removed: '-', changed: '~', renamed: '~', swapped: '~' } as const;
  for (const { server, kind, name, change, was } of changes) {
    const before = was === undefined ? '' : ` (before: ${cleanLine(was, 128)})`;
    const subject = `${out.style('dim', cleanLine(server, 64))} ${kind} ${out.style('bold', cleanLine(name, 128))}`;
    out.styled(`${marks[change]} ${subject}  ${out.style('yellow', `${change}${before}`)}`);
  }
}
