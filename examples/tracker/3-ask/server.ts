// #region imports
import { createServer, prompt, resource, tool } from 'fullmcp';
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
} from './issues.ts';

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
  changes: ['resources', 'resource'],
  resources: {
    // #region activity
    'activity://log': resource({
      title: 'The activity log',
      description: 'A line for each request to delete an issue, and for each deletion',
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
      annotations: { destructive: false },
      input: z.object({
        title: z.string().min(1).max(120).describe('The problem in one line'),
        priority: z.enum(['low', 'normal', 'high']).default('normal').describe('How urgent it is'),
      }),
      output: issue,
      run: async (fields, { changed }) => {
        const added = await addIssue(fields);
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
  },
});
