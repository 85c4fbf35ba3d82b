import { resource, tool } from 'fullmcp';
import { z } from 'zod';
import { addIssue, deleteIssue, issue, listIssues } from '../3-ask/issues.ts';

// The solutions of the exercises in docs/learn.

export const tools = {
  // #region search_issues
  search_issues: tool({
    description: 'Find issues whose title contains some text.',
    annotations: { readOnly: true },
    input: z.object({ text: z.string().min(1).describe('A part of the title, in any case') }),
    output: z.object({ issues: z.array(issue) }),
    run: async ({ text }) => {
      const all = await listIssues();
      return { issues: all.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase())) };
    },
  }),
  // #endregion
  // #region open_issue
  open_issue: tool({
    description: 'Open an issue. Asks for the priority if it is not given.',
    annotations: { destructive: false },
    input: z.object({
      title: z.string().min(1).max(120).describe('The problem in one line'),
      priority: z.enum(['low', 'normal', 'high']).optional().describe('How urgent it is'),
    }),
    output: issue,
    run: async ({ title, priority }, ctx) => {
      const answer =
        priority === undefined
          ? await ctx.ask('priority', {
              message: `How bad is "${title}"?`,
              schema: z.object({ priority: z.enum(['low', 'normal', 'high']).default('normal') }),
            })
          : { priority };
      const added = await ctx.step('add', () => addIssue({ title, priority: answer.priority }));
      ctx.changed.resources();
      return added;
    },
  }),
  // #endregion
  // #region delete_closed
  delete_closed: tool({
    description: 'Delete all issues that are closed.',
    annotations: { destructive: true, idempotent: true },
    task: 'optional',
    run: async (_input, ctx) => {
      const ids = await ctx.step('find', async () =>
        (await listIssues()).filter(({ state }) => state === 'closed').map(({ id }) => id),
      );
      for (const [index, id] of ids.entries()) {
        await ctx.step(`issue ${id}`, () => deleteIssue(id));
        ctx.progress(index + 1, ids.length, 'Deleting');
      }
      ctx.changed.resources();
      return `Deleted ${ids.length} issues`;
    },
  }),
  // #endregion
};

export const resources = {
  // #region open_issues
  'issues://open': resource({
    title: 'Open issues',
    description: 'The issues that are open, as JSON',
    read: async () => (await listIssues()).filter(({ state }) => state === 'open'),
  }),
  // #endregion
};
