import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { z } from 'zod';

const users = new Set(['ada', 'bea', 'carl']);

export default createServer({
  name: 'directory',
  version: '1.0.0',
  auth: apiKey({
    keys: [
      { hash: await hashApiKey(process.env['ADMIN_KEY'] ?? ''), subject: 'ada', claims: { role: 'admin' } },
      { hash: await hashApiKey(process.env['STAFF_KEY'] ?? ''), subject: 'bea', claims: { role: 'staff' } },
    ],
  }),
  tools: {
    list_users: tool({ annotations: { readOnly: true }, run: () => [...users].join(', ') }),
    remove_user: tool({
      description: 'Remove a user',
      // For everybody else the tool does not exist: it is not listed, and a call gets the error of an unknown tool.
      allow: (auth) => auth?.claims['role'] === 'admin',
      input: z.object({ name: z.string() }),
      run: ({ name }) => (users.delete(name) ? `${name} was removed` : `There is no ${name}`),
    }),
  },
});
