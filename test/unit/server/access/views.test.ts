import { createServer, inProcess, type Outcome, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { printOutcome } from '../../../../src/protocol/call.js';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };
const run = (): string => 'done';

/** Returns the outcome itself, so that two calls with the same print can be compared. */
function lister(server: { readonly dispatch: (call: never) => Promise<Outcome> }, scopes: readonly string[]) {
  const auth = { subject: 'ann', scopes, claims: {} };
  return (method = 'tools/list', params = {}): Promise<Outcome> =>
    server.dispatch({
      id: 1,
      method,
      params,
      peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
      auth: { ...auth },
      signal: new AbortController().signal,
      notify() {},
    } as never);
}

const listCall = (auth: object): never =>
  ({
    id: 1,
    method: 'tools/list',
    params: {},
    peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
    auth,
    signal: new AbortController().signal,
    notify() {},
  }) as never;

const namesOf = (outcome: Outcome): string[] =>
  (outcome['tools'] as { name: string }[]).map(({ name }) => name);

async function walk(list: ReturnType<typeof lister>): Promise<string[]> {
  const names: string[] = [];
  let cursor: unknown;
  do {
    const page = await list('tools/list', cursor === undefined ? {} : { cursor });
    names.push(...namesOf(page));
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return names;
}

describe('a list that depends on the caller', () => {
  const tools = {
    open: tool({ run }),
    a: tool({ scopes: ['a'], run }),
    b: tool({ scopes: ['b'], run }),
    both: tool({ scopes: ['a', 'b'], run }),
    last: tool({ run }),
  };

  it('is printed once for each set of visible names, whoever the callers are', async () => {
    const server = createServer({ ...quiet, tools });
    const first = await lister(server, ['a'])();
    expect(await lister(server, ['a', 'unrelated'])()).toBe(first);
    expect(await lister(server, ['b'])()).not.toBe(first);
    expect(namesOf(first)).toEqual(['open', 'a', 'last']);
    expect(printOutcome(first)).toBe(JSON.stringify(first));
  });

  it('follows the scopes of a caller that the program changes, and remembers those that cannot change', async () => {
    const server = createServer({ ...quiet, tools });
    const scopes = ['a'];
    const auth = { subject: 'ann', scopes, claims: {} };
    const list = async () => namesOf(await server.dispatch(listCall(auth)));
    expect(await list()).toEqual(['open', 'a', 'last']);
    scopes.pop();
    expect(await list()).toEqual(['open', 'last']);
    const frozen = Object.freeze({ ...auth, scopes: Object.freeze(['b']) });
    expect(namesOf(await server.dispatch(listCall(frozen)))).toEqual(['open', 'b', 'last']);
    expect(namesOf(await server.dispatch(listCall(frozen)))).toEqual(['open', 'b', 'last']);
  });

  it('is private, and one without rules is public', async () => {
    const server = createServer({ ...quiet, tools, prompts: { p: prompt({ run }) } });
    expect(await lister(server, [])()).toMatchObject({ cacheScope: 'private', ttlMs: 60_000 });
    expect(await lister(server, [])('prompts/list')).toMatchObject({ cacheScope: 'public' });
    const resources = {
      'a://b': resource({ read: run }),
      'a://{b}/c': resource({ scopes: ['a'], read: run }),
    };
    const other = createServer({ ...quiet, resources });
    expect(await lister(other, [])('resources/list')).toMatchObject({ cacheScope: 'public' });
    expect(await lister(other, [])('resources/templates/list')).toMatchObject({
      cacheScope: 'private',
      resourceTemplates: [],
    });
  });

  it.each([1, 2, 3, 5])('has pages that fit each caller (page size %i)', async (pageSize) => {
    const server = createServer({ ...quiet, tools, pageSize });
    expect(await walk(lister(server, []))).toEqual(['open', 'last']);
    expect(await walk(lister(server, ['a']))).toEqual(['open', 'a', 'last']);
    expect(await walk(lister(server, ['b', 'a']))).toEqual(['open', 'a', 'b', 'both', 'last']);
  });

  it('continues after the cursor of another caller if the caller sees its entry, and tells nothing of other entries', async () => {
    const server = createServer({ ...quiet, tools, pageSize: 2 });
    const { nextCursor } = await lister(server, ['a', 'b'])(); // after `a`
    expect(namesOf(await lister(server, ['a'])('tools/list', { cursor: nextCursor }))).toEqual(['last']);
    const messageOf = async (cursor: unknown): Promise<string> =>
      lister(server, ['b'])('tools/list', { cursor }).then(
        () => 'a page',
        (error) => error.message,
      );
    expect(await messageOf(nextCursor)).toBe(await messageOf(Buffer.from('none').toString('base64url')));
  });

  it('follows the definitions that are added and removed', async () => {
    const server = createServer({ ...quiet, tools: { open: tool({ run }) } });
    expect(await lister(server, [])()).toMatchObject({ cacheScope: 'public' });
    const registration = server.tool('a', { scopes: ['a'] }, run);
    expect(namesOf(await lister(server, [])())).toEqual(['open']);
    expect(namesOf(await lister(server, ['a'])())).toEqual(['open', 'a']);
    registration.remove();
    expect(await lister(server, ['a'])()).toMatchObject({ cacheScope: 'public' });
    expect(namesOf(await lister(server, ['a'])())).toEqual(['open']);
  });

  it('is consistent if definitions change while `allow` decides', async () => {
    let decide: ((isAllowed: boolean) => void) | undefined;
    const allow = (): Promise<boolean> =>
      new Promise((resolve) => {
        decide = resolve;
      });
    const server = createServer({
      ...quiet,
      tools: { slow: tool({ allow, run }), a: tool({ scopes: ['a'], run }) },
    });
    const listing = lister(server, [])();
    await vi.waitFor(() => expect(decide).toBeDefined());
    const late = server.tool('early', { scopes: ['z'] }, run);
    decide?.(true);
    expect(namesOf(await listing)).toEqual(['slow']);
    late.remove();
  });

  it('keeps a limited number of prints, the most recently used', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`t${n}`, tool({ scopes: [`s${n}`], run })]),
    );
    const server = createServer({ ...quiet, tools: many });
    const list = (n: number): Promise<Outcome> => lister(server, [`s${n}`])();
    const first = await list(0);
    for (let n = 1; n < 100; n++) {
      expect(namesOf(await list(n))).toEqual([`t${n}`]);
      expect(await list(0)).toBe(first); // used all the time
    }
    const early = await list(1);
    expect(await list(1)).toBe(early);
    for (let n = 2; n < 70; n++) await list(n);
    expect(await list(1)).not.toBe(early);
  });

  it('tells apart sets that differ in any one of many entries', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`t${n}`, tool({ scopes: [`s${n}`], run })]),
    );
    const server = createServer({ ...quiet, tools: many });
    const all = Object.keys(many);
    for (let n = 0; n < 40; n++) {
      const scopes = all.filter((_, at) => at !== n).map((name) => name.replace('t', 's'));
      expect(namesOf(await lister(server, scopes)())).toEqual(all.filter((_, at) => at !== n));
    }
  });

  it('is complete for a local caller', async () => {
    const server = createServer({ ...quiet, tools: { ...tools, no: tool({ allow: () => false, run }) } });
    const { tools: listed } = await inProcess(server)('tools/list');
    expect(listed).toHaveLength(6);
  });
});
