import { createServer, insufficientScope, resource, tool } from 'fullmcp';
import { z } from 'zod';

const files = new Map([['ada/plan.txt', 'Engines first.']]);

export const server = createServer({
  name: 'files',
  version: '1.0.0',
  access: {
    // Every definition needs this scope.
    scopes: ['files:read'],
    // Every definition with this tag is for administrators alone.
    tags: { admin: { allow: (auth) => auth?.claims['role'] === 'admin' } },
  },
  tools: {
    write_file: tool({
      scopes: ['files:write'],
      input: z.object({ path: z.string(), text: z.string() }),
      // Lists have no input. With one, each caller may write only below its own name.
      allow: (auth, input) => input === undefined || input.path.startsWith(`${auth?.subject}/`),
      run({ path, text }, { auth }) {
        if (text.length > 1000 && !auth?.scopes.includes('files:large'))
          throw insufficientScope(['files:large']);
        files.set(path, text);
        return `Saved ${path}`;
      },
    }),
    delete_all: tool({ tags: ['admin'], run: () => files.clear() }),
  },
  resources: {
    'files://{owner}/{name}': resource({
      allow: (auth, values) => values === undefined || values.owner === auth?.subject,
      read: ({ owner, name }) => files.get(`${owner}/${name}`),
    }),
  },
});
