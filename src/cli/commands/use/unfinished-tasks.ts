// Shows the unfinished tasks in the store of a cluster, by the version that began them.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readUnfinished } from '../../../extensions/tasks/operator.js';
import type { Store } from '../../../state/store.js';
import type { Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { tableOf } from '../../results/table.js';

type OpenStore = (url: string) => Promise<Store>;

const postgresStore: OpenStore = async (url) =>
  storeOf((await import('../../../adapters/postgres/cluster.js')).postgres({ url }));
const redisStore: OpenStore = async (url) =>
  storeOf((await import('../../../adapters/redis/cluster.js')).redis({ url }));

const engines: Readonly<Record<string, OpenStore>> = {
  'postgres:': postgresStore,
  'postgresql:': postgresStore,
  'redis:': redisStore,
  'rediss:': redisStore,
  'valkey:': (url) => redisStore(url.replace('valkey:', 'redis:')),
};

/** The function that opens the store which a word names: the URL of a cluster, or the folder of an LMDB store. Undefined if it names none. */
export function storeAt(word: string): (() => Promise<Store>) | undefined {
  const protocol = URL.canParse(word) ? new URL(word).protocol : '';
  const open = Object.hasOwn(engines, protocol) ? engines[protocol] : undefined;
  if (open !== undefined) return () => open(word);
  const isFolder = statSync(join(word, 'data.mdb'), { throwIfNoEntry: false })?.isFile() === true;
  return isFolder ? async () => (await import('../../../adapters/lmdb/store.js')).lmdbStore(word) : undefined;
}

function storeOf({ store }: { readonly store?: Store | undefined }): Store {
  if (store === undefined) throw usageError('This cluster has no store.');
  return store;
}

/** Prints the processes that run tasks, and the unfinished tasks. */
export async function showUnfinished(open: () => Promise<Store>, { out }: Typed): Promise<void> {
  const store = await open();
  try {
    const { releases, tasks } = await readUnfinished(store);
    out.json({ ok: true, releases, tasks });
    if (out.isJson) return;
    if (releases.length > 0) out.value(tableOf(releases, out.width) ?? '');
    if (tasks.length > 0) out.value(`${releases.length > 0 ? '\n' : ''}${tableOf(tasks, out.width)}`);
    const gone = tasks.filter(({ processes }) => processes === 0);
    const count = gone.reduce((sum, { working, waiting }) => sum + working + waiting, 0);
    out.note(
      tasks.length === 0
        ? 'No task is unfinished.'
        : count === 0
          ? 'Every unfinished task has a process that serves its version.'
          : `Unfinished tasks without a process that serves their version: ${count}. They are migrated, or fail, when they continue.`,
    );
  } finally {
    await store.close();
  }
}
