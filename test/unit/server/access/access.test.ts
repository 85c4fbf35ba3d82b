import { createServer, DefinitionError, inProcess, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };
const run = (): string => 'done';

function problemsOf(options: object): readonly string[] {
  try {
    createServer({ ...quiet, ...options } as never);
  } catch (error) {
    expect(error).toBeInstanceOf(DefinitionError);
    return (error as DefinitionError).problems;
  }
  return [];
}

const problemsOfTool = (options: object): readonly string[] =>
  problemsOf({ tools: { t: tool({ run, ...options } as never) } });

describe('a mistake in a rule', () => {
  it.each([
    [{ scopes: 'files:read' }, 'tool "t": "scopes" must be an array of strings, such as ["files:read"]'],
    [{ scopes: [1] }, 'tool "t": "scopes" must be an array of strings, such as ["files:read"]'],
    [
      { scopes: ['files:read files:write'] },
      'tool "t": "scopes" has "files:read files:write", which is not a scope: a scope has no spaces, quotes or backslashes and is not empty. Write each scope as a string of its own.',
    ],
    [
      { scopes: [''] },
      'tool "t": "scopes" has "", which is not a scope: a scope has no spaces, quotes or backslashes and is not empty. Write each scope as a string of its own.',
    ],
    [
      { scopes: ['offline_access'] },
      'tool "t": "scopes" has "offline_access", which asks for a refresh token and permits nothing. Remove it.',
    ],
    [{ allow: true }, 'tool "t": "allow" must be a function: (auth, input) => true'],
    [{ tags: 'admin' }, 'tool "t": "tags" must be an array of strings, such as ["admin"]'],
    [{ scope: ['a'] }, 'tool "t": "scope" is unknown. Did you mean "scopes"?'],
    [{ requiredScopes: ['a'] }, 'tool "t": "requiredScopes" is unknown. Did you mean "scopes"?'],
    [{ canAccess: () => true }, 'tool "t": "canAccess" is unknown. Did you mean "allow"?'],
  ])('of a tool is reported with what to do: %j', (options, problem) => {
    expect(problemsOfTool(options)).toEqual([problem]);
  });

  it('of a resource, a template and a prompt is reported, too', () => {
    expect(
      problemsOf({
        resources: {
          'a://b': resource({ scopes: 'x', read: run } as never),
          'a://{b}': resource({ allow: 1, read: run } as never),
        },
        prompts: { p: prompt({ scopes: ['a b'], run } as never) },
      }),
    ).toHaveLength(3);
  });

  it.each([
    [7, '"access": it must be an object: { scopes: ["files:read"] }'],
    [[], '"access": it must be an object: { scopes: ["files:read"] }'],
    [{ scopes: 'a' }, '"access": "scopes" must be an array of strings, such as ["files:read"]'],
    [{ tag: {} }, '"access.tag" is unknown. Did you mean "tags"?'],
    [{ tags: [] }, '"access.tags" must be an object: { admin: { scopes: ["admin"] } }'],
    [{ tags: { admin: ['admin'] } }, '"access.tags.admin": it must be an object: { scopes: ["files:read"] }'],
    [
      { tags: { admin: { scope: ['admin'] } } },
      '"access.tags.admin.scope" is unknown. Did you mean "scopes"?',
    ],
    [
      { tags: { admin: { allow: 1 } } },
      '"access.tags.admin": "allow" must be a function: (auth, input) => true',
    ],
  ])('of the server is reported with what to do: %j', (access, problem) => {
    expect(problemsOf({ access })).toEqual([problem]);
  });

  it('in the name of a tag is reported if no definition has the tag, because the rule would protect nothing', () => {
    const tools = { t: tool({ tags: ['admin'], run }) };
    expect(problemsOf({ tools, access: { tags: { admn: { scopes: ['a'] } } } })).toEqual([
      '"access.tags.admn" is for a tag that no definition has. Did you mean "admin"?',
    ]);
    expect(problemsOf({ tools, access: { tags: { later: { scopes: ['a'] } } } })).toEqual([]);
  });

  it('in the tag of a definition is a warning', () => {
    const log: string[] = [];
    createServer({
      ...quiet,
      logger: (_, message) => void log.push(message),
      access: { tags: { admin: { scopes: ['a'] } } },
      tools: { s: tool({ tags: ['admin'], run }), t: tool({ tags: ['admn'], run }) },
    });
    expect(log).toEqual([
      'tool "t": the tag "admn" has no rule in "access.tags", but the similar tag "admin" has one',
    ]);
  });

  it('is reported when a definition is added later', () => {
    const server = createServer(quiet);
    expect(() => server.tool('t', { scopes: 'a' } as never, run)).toThrow(DefinitionError);
  });

  it('that would let caches share the contents of a guarded resource is reported', () => {
    const resources = { 'a://b': resource({ scopes: ['a'], cacheScope: 'public', read: run }) };
    expect(problemsOf({ resources })[0]).toContain('"cacheScope" is "public"');
  });
});

describe('the scopes of a server', () => {
  it('are those of all its rules, sorted, without duplicates, and follow the definitions that are added and removed', () => {
    const server = createServer({
      ...quiet,
      access: { scopes: ['mcp'], tags: { admin: { scopes: ['admin'] }, unused: { scopes: ['never'] } } },
      tools: { t: tool({ scopes: ['b', 'a'], tags: ['admin'], run }) },
      resources: {
        'a://b': resource({ scopes: ['a'], read: run }),
        'c://{d}': resource({ scopes: ['d'], read: run }),
      },
      prompts: { p: prompt({ scopes: ['e'], run }) },
    });
    expect(server.scopes).toEqual(['a', 'admin', 'b', 'd', 'e', 'mcp']);
    const late = server.tool('late', { scopes: ['z'] }, run);
    expect(server.scopes).toContain('z');
    late.remove();
    expect(server.scopes).not.toContain('z');
    expect(createServer(quiet).scopes).toEqual([]);
  });
});

describe('all rules that apply', () => {
  const server = createServer({
    ...quiet,
    access: {
      scopes: ['mcp'],
      allow: (auth) => auth?.subject !== 'banned',
      tags: { admin: { scopes: ['admin'], allow: (auth) => auth?.claims['role'] === 'admin' } },
    },
    tools: {
      plain: tool({ run }),
      ops: tool({
        tags: ['admin', 'other'],
        scopes: ['ops'],
        allow: (auth) => auth?.email !== undefined,
        run,
      }),
    },
  });
  const full = {
    subject: 'ann',
    scopes: ['mcp', 'admin', 'ops'],
    claims: { role: 'admin' },
    email: 'ann@example.com',
  };

  async function names(caller: object): Promise<string[]> {
    const { tools } = await inProcess(server, { caller: caller as never })('tools/list');
    return (tools as { name: string }[]).map(({ name }) => name);
  }

  it.each([
    ['all of them hold', full, ['plain', 'ops']],
    ['the scope of the server is missing', { ...full, scopes: ['admin', 'ops'] }, []],
    ['the function of the server refuses', { ...full, subject: 'banned' }, []],
    ['the scope of a tag is missing', { ...full, scopes: ['mcp', 'ops'] }, ['plain']],
    ['the function of a tag refuses', { ...full, claims: {} }, ['plain']],
    ['the scope of the definition is missing', { ...full, scopes: ['mcp', 'admin'] }, ['plain']],
    ['the function of the definition refuses', { ...full, email: undefined }, ['plain']],
  ])('must hold: %s', async (_, caller, expected) => {
    expect(await names(caller)).toEqual(expected);
  });
});
