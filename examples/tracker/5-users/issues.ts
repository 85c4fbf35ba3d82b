import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { ToolError } from 'fullmcp';
import { z } from 'zod';

// The issues of the team, in LMDB: a database in a folder of this machine. A write is safe when its promise resolves.

// #region issue
export const issue = z.object({
  id: z.int(),
  title: z.string(),
  priority: z.enum(['low', 'normal', 'high']),
  state: z.enum(['open', 'closed']),
  reason: z.string().optional(),
  author: z.string().optional(),
});
// #endregion

export type Issue = z.infer<typeof issue>;
export type NewIssue = Omit<Issue, 'id' | 'state'>;

export const folder = process.env.TRACKER_FOLDER ?? 'data';
const { open } = createRequire(import.meta.url)('lmdb'); // works with every TypeScript loader
const database = open({ path: join(folder, 'issues') });
const issues = database.openDB({ name: 'issues' });
const activity = database.openDB({ name: 'activity' });
const addedByKey = database.openDB({ name: 'added by key' });
const counters = database.openDB({ name: 'counters' });

/** Adds an issue. With a key that was used before, nothing is added, and the issue of that time is returned. */
export async function addIssue(fields: NewIssue, key?: string): Promise<Issue> {
  return database.transaction(() => {
    const known = key === undefined ? undefined : addedByKey.get(key);
    if (known !== undefined) return known;
    const added: Issue = { id: countUp('issues'), ...fields, state: 'open' };
    issues.put(added.id, added);
    if (key !== undefined) addedByKey.put(key, added);
    return added;
  });
}

export async function saveIssue(changed: Issue): Promise<Issue> {
  await issues.put(changed.id, changed);
  return changed;
}

export async function getIssue(id: number): Promise<Issue | undefined> {
  return issues.get(id);
}

export async function listIssues(): Promise<Issue[]> {
  return [...issues.getRange()].map(({ value }) => value);
}

export async function findIssue(id: number): Promise<Issue> {
  const found = await getIssue(id);
  if (found === undefined)
    throw new ToolError(`Issue ${id} does not exist. Call list_issues to see the ids.`);
  return found;
}

export async function deleteIssue(id: number): Promise<void> {
  await issues.remove(id);
}

export async function addActivity(line: string): Promise<void> {
  await database.transaction(() => {
    activity.put(countUp('activity'), line);
  });
}

export async function listActivity(): Promise<string[]> {
  return [...activity.getRange()].map(({ value }) => value);
}

/** The next number, in a transaction: two processes never get the same one. */
function countUp(name: string): number {
  const next = (counters.get(name) ?? 0) + 1;
  counters.put(name, next);
  return next;
}
