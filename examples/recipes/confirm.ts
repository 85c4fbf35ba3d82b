import { createServer, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

export const projects = new Map([
  ['website', { files: 120 }],
  ['old-shop', { files: 3000 }],
]);

export default createServer({
  name: 'projects',
  version: '1.0.0',
  tools: {
    delete_project: tool({
      description: 'Delete a project and all its files',
      input: z.object({ name: z.string() }),
      annotations: { destructive: true },
      async run({ name }, ctx) {
        const project = projects.get(name);
        if (project === undefined) throw new ToolError(`There is no project with the name ${name}.`);
        const { sure } = await ctx.ask('sure', {
          message: `Delete ${name} with ${project.files} files? This cannot be undone.`,
          schema: z.object({ sure: z.boolean().meta({ title: 'Yes, delete it' }) }),
        });
        if (!sure) return `${name} was kept.`;
        projects.delete(name);
        return `${name} was deleted.`;
      },
    }),
  },
});
