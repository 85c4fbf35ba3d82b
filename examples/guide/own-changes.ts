import { defineWith } from 'fullmcp';
import { z } from 'zod';

interface Issue {
  readonly owner: string;
  readonly title: string;
}

const issues = new Map<string, Issue>();

// #region own
const { createServer, resource, tool } = defineWith({ user: ({ auth }) => auth?.subject ?? 'guest' });

const server = createServer({
  name: 'guide-own-changes',
  version: '1.0.0',
  changes: ['resource', 'resources'],
  resources: {
    'issue://{id}': resource({
      read: ({ id }, { user }) => (issues.get(id)?.owner === user ? issues.get(id)?.title : undefined),
    }),
  },
  tools: {
    rename_issue: tool({
      input: z.object({ id: z.string(), title: z.string() }),
      run: ({ id, title }, { user, changed }) => {
        issues.set(id, { owner: user, title });
        // Subscribers for whom the issue does not exist are not told: the server reads it for each of them.
        changed.resource(`issue://${id}`);
        // The lists of other users are the same as before.
        changed.resources({ to: user });
      },
    }),
    delete_issue: tool({
      input: z.object({ id: z.string() }),
      run: ({ id }, { user, changed }) => {
        issues.delete(id);
        // Nobody can read it any more. Its owner is told nevertheless, and nothing is read.
        changed.resource(`issue://${id}`, { to: user });
      },
    }),
  },
});
// #endregion

export default server;
