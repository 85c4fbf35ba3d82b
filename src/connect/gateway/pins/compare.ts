import type { PinnedList } from './lock.js';
import type { PinChange } from './options.js';

/** A difference between two lists, without the server and the kind. */
export type ListChange = Pick<PinChange, 'name' | 'change' | 'was'>;

/** All differences between the list that is pinned and the one that the server has now. */
export function compareLists(pinned: PinnedList, now: PinnedList): readonly ListChange[] {
  const added = [...now.keys()].filter((name) => !pinned.has(name));
  const removed = new Set([...pinned.keys()].filter((name) => !now.has(name)));
  const changed = [...now].filter(([name, digest]) => pinned.has(name) && pinned.get(name) !== digest);
  return [
    ...added.map((name): ListChange => {
      const was = [...removed].find((gone) => pinned.get(gone) === now.get(name));
      if (was === undefined) return { name, change: 'added' };
      removed.delete(was);
      return { name, change: 'renamed', was };
    }),
    ...changed.map(([name, digest]): ListChange => {
      const other = changed.find(
        ([each, theirs]) => each !== name && pinned.get(each) === digest && pinned.get(name) === theirs,
      );
      return other === undefined ? { name, change: 'changed' } : { name, change: 'swapped', was: other[0] };
    }),
    ...[...removed].map((name): ListChange => ({ name, change: 'removed' })),
  ];
}
