import process from 'node:process';
import { ToolError } from 'fullmcp';
import pg from 'pg';
import { z } from 'zod';

// The issues of the team, in Postgres: any number of processes share them.

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

export const url = process.env.DATABASE_URL ?? 'postgres://postgres@localhost:5432/postgres';
const pool = new pg.Pool({ connectionString: url, allowExitOnIdle: true });
pool.on('error', ({ message }) => console.error(message)); // a connection that was idle is lost: the pool opens another

/** Adds an issue. With a key that was used before, nothing is added, and the issue of that time is returned. */
export async function addIssue(fields: NewIssue, key?: string): Promise<Issue> {
  const { rows } = await pool.query(
    `INSERT INTO issue (key, fields) VALUES ($1, $2)
     ON CONFLICT (key) DO UPDATE SET key = EXCLUDED.key RETURNING id, fields`,
    [key, { ...fields, state: 'open' }],
  );
  return issue.parse({ id: rows[0].id, ...rows[0].fields });
}

export async function saveIssue(changed: Issue): Promise<Issue> {
  const { id, ...fields } = changed;
  await pool.query('UPDATE issue SET fields = $2 WHERE id = $1', [id, fields]);
  return changed;
}

export async function getIssue(id: number): Promise<Issue | undefined> {
  const { rows } = await pool.query('SELECT fields FROM issue WHERE id = $1', [id]);
  return rows[0] && issue.parse({ id, ...rows[0].fields });
}

export async function listIssues(): Promise<Issue[]> {
  const { rows } = await pool.query('SELECT id, fields FROM issue ORDER BY id');
  return rows.map(({ id, fields }) => issue.parse({ id, ...fields }));
}

export async function findIssue(id: number): Promise<Issue> {
  const found = await getIssue(id);
  if (found === undefined)
    throw new ToolError(`Issue ${id} does not exist. Call list_issues to see the ids.`);
  return found;
}

export async function deleteIssue(id: number): Promise<void> {
  await pool.query('DELETE FROM issue WHERE id = $1', [id]);
}

export async function addActivity(line: string): Promise<void> {
  await pool.query('INSERT INTO activity (line) VALUES ($1)', [line]);
}

export async function listActivity(): Promise<string[]> {
  const { rows } = await pool.query('SELECT line FROM activity ORDER BY id');
  return rows.map(({ line }) => line);
}
