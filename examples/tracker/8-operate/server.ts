// #region imports
import { setTimeout } from 'node:timers/promises';
import { createServer, prompt, resource, stored, ToolError, tool } from 'fullmcp';
import { postgres } from 'fullmcp/postgres';
import { z } from 'zod';
import {
  addActivity,
  addIssue,
  deleteIssue,
  findIssue,
  getIssue,
  issue,
  listActivity,
  listIssues,
  saveIssue,
  url,
} from './issues.ts';
// #region watching
import { watching } from './watching.ts';

// #endregion
// #endregion

// #region watched
const watched = stored({
  name: 'watched',
  schema: z.object({ ids: z.array(z.int()) }),
  initial: { ids: [] },
});
// #endregion

// #region ids
const idsLike = async (typed = '') => {
  const all = await listIssues();
  return all.map(({ id }) => String(id)).filter((id) => id.startsWith(typed));
};
// #endregion

export const server = createServer({
  name: 'tracker',
  version: '1.0.0',
  instructions: 'The issues of the team. List them before you open one: somebody may have reported it.',
  // #region use
  use: watching,
  // #endregion
  // #region access
  access: { scopes: ['issues:read'] }, // everything needs this scope
  // #endregion
  // #region store
  cluster: postgres({ url }),
  tasks: { leaseMs: 3000 }, // a process that is silent for so long has died
  // #endregion
  changes: ['resources', 'resource'],
  resources: {
    // #region activity
    'activity://log': resource({
      title: 'The activity log',
      description: 'A line for each request to delete an issue, and for each deletion',
      allow: (auth) => auth?.scopes.includes('issues:write') === true,
      read: async () => (await listActivity()).join('\n'),
    }),
    // #endregion
    'issue://{id}': resource({
      title: 'An issue',
      description: 'One issue as JSON',
      list: async () => {
        const all = await listIssues();
        return all.map(({ id, title, state }) => ({
          uri: `issue://${id}`,
          name: title,
          description: `It is ${state}`,
        }));
      },
      complete: { id: idsLike },
      read: ({ id }) => getIssue(Number(id)),
    }),
  },
  // #region prompts
  prompts: {
    triage: prompt({
      description: 'Decide what to do with an issue',
      args: z.object({ id: z.int().describe('The id of the issue') }),
      complete: { id: idsLike },
      run: async ({ id }) => {
        const { title, priority } = await findIssue(id);
        return `Issue ${id}, priority ${priority}: "${title}". Is the priority right? Name one next step.`;
      },
    }),
  },
  // #endregion
  tools: {
    // #region open_issue
    open_issue: tool({
      description: 'Open an issue. Returns the issue with its id.',
      scopes: ['issues:write'],
      annotations: { destructive: false },
      input: z.object({
        title: z.string().min(1).max(120).describe('The problem in one line'),
        priority: z.enum(['low', 'normal', 'high']).default('normal').describe('How urgent it is'),
      }),
      output: issue,
      run: async (fields, { auth, changed }) => {
        const added = await addIssue({ ...fields, author: auth?.subject });
        changed.resources();
        return added;
      },
    }),
    // #endregion
    // #region list_issues
    list_issues: tool({
      description: 'List the issues, all of them or only those in one state.',
      annotations: { readOnly: true },
      input: z.object({ state: z.enum(['open', 'closed']).optional().describe('Only issues in this state') }),
      output: z.object({ issues: z.array(issue) }),
      run: async ({ state }) => {
        const all = await listIssues();
        return { issues: state === undefined ? all : all.filter((one) => one.state === state) };
      },
    }),
    // #endregion
    // #region close_issue
    close_issue: tool({
      description: 'Close an issue. Asks the user for the reason.',
      // #region writes
      scopes: ['issues:write'],
      // #endregion
      annotations: { destructive: false, idempotent: true },
      input: z.object({ id: z.int().describe('The id of the issue') }),
      output: issue,
      run: async ({ id }, ctx) => {
        const { title } = await findIssue(id);
        const { reason } = await ctx.ask('reason', {
          message: `Why is "${title}" closed?`,
          schema: z.object({ reason: z.enum(['done', 'duplicate', 'will not do']) }),
        });
        const closed = await saveIssue({ ...(await findIssue(id)), state: 'closed', reason });
        ctx.changed.resource(`issue://${id}`);
        return closed;
      },
    }),
    // #endregion
    // #region delete_issue
    delete_issue: tool({
      description: 'Delete an issue for good. Asks the user first.',
      scopes: ['issues:write'],
      annotations: { destructive: true },
      input: z.object({ id: z.int().describe('The id of the issue') }),
      run: async ({ id }, ctx) => {
        const { title } = await findIssue(id);
        await ctx.step('request', () => addActivity(`Somebody wants to delete issue ${id}, "${title}"`));
        const { sure } = await ctx.ask('sure', {
          message: `Delete "${title}"? Nobody can bring it back.`,
          schema: z.object({ sure: z.boolean() }),
        });
        if (!sure) return 'Nothing was deleted';
        await ctx.step('delete', async () => {
          await deleteIssue(id);
          await addActivity(`Issue ${id} was deleted`);
        });
        ctx.changed.resources();
        return `Issue ${id} is deleted`;
      },
    }),
    // #endregion
    // #region import_csv
    import_csv: tool({
      description:
        'Import issues from CSV text. Its first line is "title,priority", each other line an issue.',
      scopes: ['issues:write'],
      annotations: { destructive: false },
      input: z.object({ csv: z.string().max(1_000_000).describe('The text of the file') }),
      task: 'optional',
      run: async ({ csv }, ctx) => {
        const rows = csv.trim().split('\n').slice(1);
        for (const [index, row] of rows.entries()) {
          await ctx.step(`row ${index + 1}`, async ({ idempotencyKey }) => {
            await setTimeout(20); // a real import asks another service here
            const [title = '', priority] = row.split(',');
            const fields = { title, priority: issue.shape.priority.catch('normal').parse(priority) };
            return (await addIssue(fields, idempotencyKey)).id;
          });
          ctx.progress(index + 1, rows.length, 'Importing');
        }
        ctx.changed.resources();
        return `Imported ${rows.length} issues`;
      },
    }),
    // #endregion
    // #region edit_issue
    edit_issue: tool({
      description: 'Change the title of an issue. Only its author may do that.',
      scopes: ['issues:write'],
      annotations: { destructive: false, idempotent: true },
      input: z.object({
        id: z.int().describe('The id of the issue'),
        title: z.string().min(1).max(120).describe('The new title'),
      }),
      output: issue,
      run: async ({ id, title }, { auth, changed }) => {
        const found = await findIssue(id);
        if (found.author !== auth?.subject)
          throw new ToolError(`Only ${found.author ?? 'its author'} may edit issue ${id}.`);
        const edited = await saveIssue({ ...found, title });
        changed.resource(`issue://${id}`);
        return edited;
      },
    }),
    // #endregion
    // #region watch_issue
    watch_issue: tool({
      description: 'Put an issue on the list of issues that the caller watches.',
      annotations: { destructive: false, idempotent: true },
      input: z.object({ id: z.int().describe('The id of the issue') }),
      run: async ({ id }, ctx) => {
        await findIssue(id);
        return ctx.store(watched).update(({ ids }) => ({ ids: [...new Set([...ids, id])] }));
      },
    }),
    list_watched: tool({
      description: 'List the ids of the issues that the caller watches.',
      annotations: { readOnly: true },
      run: (_input, ctx) => ctx.store(watched).get(),
    }),
    // #endregion
  },
});
