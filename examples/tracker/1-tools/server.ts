// #region imports
import { createServer, tool } from 'fullmcp';
import { z } from 'zod';
import { addIssue, findIssue, issue, listIssues, saveIssue } from './issues.ts';
// #endregion

export const server = createServer({
  name: 'tracker',
  version: '1.0.0',
  instructions: 'The issues of the team. List them before you open one: somebody may have reported it.',
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
      run: (fields) => addIssue(fields),
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
      description: 'Close an issue.',
      annotations: { destructive: false, idempotent: true },
      input: z.object({ id: z.int().describe('The id of the issue') }),
      output: issue,
      run: async ({ id }) => saveIssue({ ...(await findIssue(id)), state: 'closed' }),
    }),
    // #endregion
  },
});
