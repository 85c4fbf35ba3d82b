import { tool } from 'fullmcp';
import { z } from 'zod';
import { addActivity, deleteIssue, findIssue } from './3-ask/issues.ts';

// The mistake that page 3 lets its reader make, once and on purpose.

export const tools = {
  // #region wrong
  delete_issue: tool({
    description: 'Delete an issue for good. Asks the user first.',
    annotations: { destructive: true },
    input: z.object({ id: z.int().describe('The id of the issue') }),
    run: async ({ id }, ctx) => {
      const { title } = await findIssue(id);
      await addActivity(`Somebody wants to delete issue ${id}, "${title}"`); // WRONG: see below
      const { sure } = await ctx.ask('sure', {
        message: `Delete "${title}"? Nobody can bring it back.`,
        schema: z.object({ sure: z.boolean() }),
      });
      if (!sure) return 'Nothing was deleted';
      await deleteIssue(id);
      await addActivity(`Issue ${id} was deleted`);
      ctx.changed.resources();
      return `Issue ${id} is deleted`;
    },
  }),
  // #endregion
};
