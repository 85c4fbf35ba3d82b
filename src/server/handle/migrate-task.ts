// Migrates tasks from a version of a tool that is gone to one that its author has written a migration for.

import { isObject } from '../../jsonrpc/message.js';
import { type Journal, stepResult } from '../asking/journal.js';
import type { CompiledTool } from '../catalog/tools.js';
import type { TaskJournal, TaskMigration } from '../define/task-options.js';
import type { MigratedTask, StoredCall } from './task-host.js';

/** The digest of a step: it asks nothing. */
const STEP = '';

/** Migrates a task whose version is gone; undefined if there is no migration from it. Rejects with the error of the migration. */
export async function migrateTask(
  tool: CompiledTool | undefined,
  { version, args }: StoredCall,
  journal: Journal,
): Promise<MigratedTask | undefined> {
  const all = tool?.versions?.all ?? [];
  if (version === undefined || all.some((one) => one.version === version)) return undefined;
  const next = all.find(({ task }) => task?.migrate?.from === version);
  const migrate = next?.task?.migrate;
  if (next?.version === undefined || migrate === undefined) return undefined;
  const migrated = await migrate.journal(shown(args, journal));
  return { version: next.version, args: migrated.args, journal: applied(migrated, journal, migrate) };
}

/** The journal as the author of a migration sees it. */
function shown(args: unknown, { answers, steps, keys }: Journal): TaskJournal {
  const begun = [...keys].filter(([key, digest]) => digest === STEP && !steps.has(key));
  return {
    args,
    steps: Object.fromEntries(steps),
    answers: Object.fromEntries([...answers].filter(([key]) => keys.has(key))),
    unfinished: begun.map(([key]) => key),
  };
}

function applied({ steps, answers }: TaskJournal, before: Journal, { from }: TaskMigration): Journal {
  if (!isObject(steps) || !isObject(answers))
    throw new TypeError(`The migration from ${from} must return { args, steps, answers }.`);
  // An answer belongs to the question that the user saw, which has this key.
  const foreign = Object.keys(answers).find((key) => !before.answers.has(key) || !before.keys.has(key));
  if (foreign !== undefined)
    throw new TypeError(
      `The migration from ${from} returned an answer for "${foreign}", which nobody has answered. Answers keep their keys, or are left out and asked for again.`,
    );
  const results = Object.entries(steps).map(([key, result]) => [key, stepResult(key, result).value] as const);
  const kept = [...before.keys].filter(([key, digest]) =>
    digest === STEP ? Object.hasOwn(steps, key) : Object.hasOwn(answers, key),
  );
  const added = results.map(([key]) => [key, STEP] as const).filter(([key]) => !before.keys.has(key));
  return {
    ...before,
    answers: new Map([...before.answers].filter(([key]) => Object.hasOwn(answers, key))),
    steps: new Map(results),
    keys: new Map([...kept, ...added]),
    changes: new Map(),
  };
}
