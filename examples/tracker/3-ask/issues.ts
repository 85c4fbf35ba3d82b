import { ToolError } from 'fullmcp';
import { z } from 'zod';

// The issues of the team. They are in memory, and gone when the program ends.

// #region issue
export const issue = z.object({
  id: z.int(),
  title: z.string(),
  priority: z.enum(['low', 'normal', 'high']),
  state: z.enum(['open', 'closed']),
  reason: z.string().optional(),
});
// #endregion

export type Issue = z.infer<typeof issue>;
export type NewIssue = Omit<Issue, 'id' | 'state'>;

const issues = new Map<number, Issue>();
let lastId = 0;

export async function addIssue(fields: NewIssue): Promise<Issue> {
  lastId += 1;
  return saveIssue({ id: lastId, ...fields, state: 'open' });
}

export async function saveIssue(changed: Issue): Promise<Issue> {
  issues.set(changed.id, changed);
  return changed;
}

export async function getIssue(id: number): Promise<Issue | undefined> {
  return issues.get(id);
}

export async function listIssues(): Promise<Issue[]> {
  return [...issues.values()];
}

export async function findIssue(id: number): Promise<Issue> {
  const found = await getIssue(id);
  if (found === undefined)
    throw new ToolError(`Issue ${id} does not exist. Call list_issues to see the ids.`);
  return found;
}

// #region delete
export async function deleteIssue(id: number): Promise<void> {
  issues.delete(id);
}

const activity: string[] = [];

export async function addActivity(line: string): Promise<void> {
  activity.push(line);
}

export async function listActivity(): Promise<string[]> {
  return activity;
}
// #endregion
