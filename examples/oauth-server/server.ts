import { type Auth, createServer, type Server, tool } from 'fullmcp';

/** GitHub's API, and the user's token for it. */
interface GitHubAccess {
  readonly api: string;
  readonly tokenOf: (caller: Auth | undefined) => Promise<string>;
}

export function createRepositoriesServer({ api, tokenOf }: GitHubAccess): Server {
  return createServer({
    name: 'repositories',
    version: '1.0.0',
    tools: {
      who_am_i: tool({
        description: 'The user who has logged in',
        run: (_, { auth }) => `${auth?.claims['login']}, ${auth?.email ?? 'without an email address'}`,
      }),
      list_repositories: tool({
        description: 'The repositories of the user',
        scopes: ['repositories:read'],
        async run(_, { auth, signal }) {
          const headers = { authorization: `Bearer ${await tokenOf(auth)}`, accept: 'application/json' };
          const reply = await fetch(`${api}/user/repos?sort=pushed&per_page=20`, { headers, signal });
          if (!reply.ok) throw new Error(`GitHub replied with ${reply.status}.`);
          const repositories = (await reply.json()) as readonly { readonly full_name: string }[];
          return repositories.map(({ full_name }) => full_name).join('\n');
        },
      }),
    },
  });
}
