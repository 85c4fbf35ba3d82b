import { createServer, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const form = z.object({
  title: z.string().min(1).max(80).meta({ title: 'Title' }),
  priority: z.enum(['low', 'normal', 'urgent']).default('normal').meta({ title: 'Priority' }),
  due: z.iso.date().optional().meta({ title: 'Due on', description: 'Leave it empty if there is no hurry' }),
});

export const issues: z.infer<typeof form>[] = [];

export default createServer({
  name: 'issues',
  version: '1.0.0',
  tools: {
    open_issue: tool({
      description: 'Open an issue. The user fills in a form.',
      async run(_input, ctx) {
        const answer = await ctx.elicit('issue', { message: 'A new issue', schema: form });
        switch (answer.action) {
          case 'accept': // the content has been checked, and has its type
            await ctx.step('save', () => issues.push(answer.content));
            return `Opened "${answer.content.title}", priority ${answer.content.priority}`;
          case 'decline':
            return 'The user does not want to open an issue.';
          case 'cancel':
            throw new ToolError('The user closed the form. Ask whether to try again.');
        }
      },
    }),
  },
});
