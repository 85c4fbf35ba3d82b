import { createServer, image, type McpError, memoryStore, type Outcome, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { type OutputBudgetOptions, outputBudget } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { memoryBus } from '../../../../src/state/bus.js';
import type { Store } from '../../../../src/state/store.js';

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n}`).join('\n');
const LONG = lines(20_000);
const small = { maxChars: 1000, headChars: 100, pageChars: 5000 };

function build(options: OutputBudgetOptions = small, parts: object = {}) {
  const warnings: string[] = [];
  const server = createServer({
    name: 'large',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (level, message) => void (level === 'warning' && warnings.push(message)),
    use: [outputBudget(options)],
    tools: {
      short: tool({ run: () => 'short' }),
      long: tool({ run: () => LONG }),
      emoji: tool({ run: () => '😀'.repeat(60_000) }),
      object: tool({ run: () => ({ rows: LONG.split('\n') }) }),
      array: tool({ run: () => LONG.split('\n') }),
      declared: tool({
        output: z.object({ rows: z.array(z.string()) }),
        run: () => ({ rows: LONG.split('\n') }),
      }),
      mixed: tool({ run: () => [LONG, image(new Uint8Array(3000), 'image/png'), 'the end'] }),
      described: tool({
        run: () => ({
          content: [{ type: 'text', text: 'A table.' }],
          structuredContent: { rows: LONG.split('\n') },
        }),
      }),
      task: tool({ task: 'required', run: () => LONG }),
    },
    ...parts,
  });
  onTestFinished(() => server.close());
  return { server, warnings };
}

/** The link of a shortened result. */
function linkOf({ content }: { readonly content: readonly object[] }): {
  readonly uri: string;
  readonly size: number;
  readonly mimeType: string;
} {
  const link = content.find((block) => 'type' in block && block.type === 'resource_link');
  if (link === undefined) throw new Error(`There is no link in ${JSON.stringify(content).slice(0, 500)}`);
  return link as never;
}

/** Reads all pages, as a program does: it follows the offset of its own. */
async function readAll(client: Pick<Client, 'readResource'>, uri: string): Promise<string> {
  let text = '';
  for (;;) {
    const { contents } = await client.readResource(`${uri}?offset=${text.length}`);
    text += (contents[0] as { text: string }).text;
    if (contents.length === 1) return text;
    expect(contents[1]?.uri).toBe(`${uri}?offset=${text.length}`);
  }
}

const failure = (promise: Promise<unknown>): Promise<McpError> =>
  promise.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: McpError) => error,
  );

describe('outputBudget on a server', () => {
  it('leaves small results as they are', async () => {
    await using client = await connect(build().server);
    expect((await client.callTool('short')).content).toEqual([{ type: 'text', text: 'short' }]);
  });

  it('gives the beginning of a large text, its size, and a link to the rest', async () => {
    await using client = await connect(build().server);
    const result = await client.callTool('long');
    const { uri, size, mimeType } = linkOf(result);
    expect([size, mimeType]).toEqual([LONG.length, 'text/plain']);
    expect(result.content).toHaveLength(2);
    expect(result.text).toBe(
      `${LONG.slice(0, 100)}\n\n[The result has ${LONG.length} characters; above are the first 100. To see more, read the resource ${uri}?offset=100, which returns up to 5000 characters at a time, within 60 minutes. Or call the tool again and ask for less, if it may be called twice.]`,
    );
    const {
      contents: [page, note],
    } = await client.readResource(`${uri}?offset=100`);
    expect(page).toMatchObject({ mimeType: 'text/plain', text: LONG.slice(100, 5100) });
    expect(note).toMatchObject({
      text: `[Characters 100 to 5100 of ${LONG.length}. The next ones: ${uri}?offset=5100]`,
    });
    expect(await readAll(client, uri)).toBe(LONG);
  });

  it('declares resources, and has empty lists of them', async () => {
    await using client = await connect(build().server);
    expect(client.server.capabilities.resources).toEqual({});
    expect(await client.resources().all()).toEqual([]);
    expect(await client.templates().all()).toEqual([]);
  });

  it('divides no character, wherever a page begins', async () => {
    await using client = await connect(build({ maxChars: 1000, headChars: 101, pageChars: 4999 }).server);
    const result = await client.callTool('emoji');
    const { uri } = linkOf(result);
    expect(await readAll(client, uri)).toBe('😀'.repeat(60_000));
    for (const offset of [1, 99_999, 100_000, 100_001, 119_999]) {
      const {
        contents: [page],
      } = await client.readResource(`${uri}?offset=${offset}`);
      // Throws if half of a pair is alone.
      encodeURIComponent((page as { text: string }).text);
    }
  });

  it('stores an object as JSON, and leaves its structured content out', async () => {
    await using client = await connect(build().server);
    for (const name of ['object', 'array'] as const) {
      const result = await client.callTool(name);
      expect(result.data).toBeUndefined();
      const { uri } = linkOf(result);
      const rows = JSON.parse(await readAll(client, uri)) as unknown;
      expect(rows).toEqual(name === 'object' ? { rows: LONG.split('\n') } : LONG.split('\n'));
    }
  });

  it('keeps the structured content of a tool that declares its output, which clients check', async () => {
    await using client = await connect(build().server);
    await client.tools().all();
    const result = await client.callTool('declared');
    expect(result.data).toEqual({ rows: LONG.split('\n') });
    expect(result.text.length).toBeLessThan(1000);
    expect(JSON.parse(await readAll(client, linkOf(result).uri))).toEqual({ rows: LONG.split('\n') });
  });

  it('keeps images, and joins all blocks of text', async () => {
    await using client = await connect(build().server);
    const result = await client.callTool('mixed');
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'image', 'resource_link']);
    expect(await readAll(client, linkOf(result).uri)).toBe(`${LONG}\n\nthe end`);
  });

  it('stores only the structured content if the text beside it is small', async () => {
    await using client = await connect(build().server);
    const result = await client.callTool('described');
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'text', 'resource_link']);
    expect(result.content[1]).toEqual({ type: 'text', text: 'A table.' });
    expect(result.text).toContain('The structured result, as JSON, has');
    expect(JSON.parse(await readAll(client, linkOf(result).uri))).toEqual({ rows: LONG.split('\n') });
  });

  it('shortens the result of a task', async () => {
    await using client = await connect(build().server);
    const handle = await client.startTool('task');
    const result = await handle.result();
    expect(await readAll(client, linkOf(result).uri)).toBe(LONG);
  });

  it('gives a result only to the caller whose call made it', async () => {
    const { server } = build();
    const as = (subject?: string) => connect(server, subject === undefined ? {} : { caller: { subject } });
    await using ada = await as('ada');
    await using bob = await as('bob');
    await using nobody = await as();
    await using adaAgain = await as('ada');
    const { uri } = linkOf(await ada.callTool('long'));
    expect(await readAll(adaAgain, uri)).toBe(LONG);
    for (const other of [bob, nobody])
      expect(await failure(other.readResource(uri))).toMatchObject({ code: 'resource_not_found' });
  });

  it('keeps only the newest results of a caller, those of others untouched', async () => {
    const { server } = build({ ...small, maxStored: 3 });
    await using ada = await connect(server, { caller: { subject: 'ada' } });
    await using bob = await connect(server, { caller: { subject: 'bob' } });
    const { uri: ofBob } = linkOf(await bob.callTool('long'));
    const uris: string[] = [];
    for (let n = 0; n < 5; n++) uris.push(linkOf(await ada.callTool('long')).uri);
    for (const [n, uri] of uris.entries()) {
      if (n < 2) expect((await failure(ada.readResource(uri))).code).toBe('resource_not_found');
      else expect(await readAll(ada, uri)).toBe(LONG);
    }
    expect(await readAll(bob, ofBob)).toBe(LONG);
  });

  it('stores every result of calls at the same time', async () => {
    const { server } = build({ ...small, maxStored: 30 });
    await using client = await connect(server);
    const results = await Promise.all(Array.from({ length: 30 }, () => client.callTool('long')));
    const uris = new Set(results.map((result) => linkOf(result).uri));
    expect(uris.size).toBe(30);
    for (const uri of uris) expect(await readAll(client, uri)).toBe(LONG);
  });

  it('stores every result of two hundred calls at the same time in two processes with a slow store', async () => {
    const inner = memoryStore();
    const slow = async <T>(work: () => Promise<T>): Promise<T> => {
      await new Promise((resolve) => setImmediate(resolve));
      return work();
    };
    const store: Store = {
      ...inner,
      get: (key) => slow(() => inner.get(key)),
      write: (...changes) => slow(() => inner.write(...changes)),
      close: async () => undefined,
    };
    const bus = memoryBus();
    const options = { ...small, maxStored: 200, maxStoredChars: 1000 };
    const servers = [build(options, { store, bus }), build(options, { store, bus })];
    const clients = await Promise.all(servers.map(({ server }) => connect(server)));
    const calls = clients.flatMap((client) => Array.from({ length: 100 }, () => client.callTool('long')));
    const uris = new Set((await Promise.all(calls)).map((result) => linkOf(result).uri));
    expect(new Set([...uris].map((uri) => uri.split('/').at(-1))).size).toBe(200);
    for (const client of clients) await client.close();
  });

  it('forgets a result after its time', async () => {
    vi.useFakeTimers({
      toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    });
    onTestFinished(() => void vi.useRealTimers());
    await using client = await connect(build({ ...small, ttlMs: 60_000 }).server);
    const { uri } = linkOf(await client.callTool('long'));
    await client.readResource(uri);
    await vi.advanceTimersByTimeAsync(61_000);
    const { message } = await failure(client.readResource(uri));
    expect(message).toContain('The result has expired');
  });

  it('stores at most maxStoredChars, and says so', async () => {
    await using client = await connect(build({ ...small, maxStoredChars: 150_001 }).server);
    const result = await client.callTool('long');
    expect(result.text).toContain('Only the first 150001 were stored.');
    expect(await readAll(client, linkOf(result).uri)).toBe(LONG.slice(0, 150_001));
  });

  it('gives the beginning alone if the store fails, and warns once', async () => {
    const inner = memoryStore();
    let isAway = true;
    const store: Store = {
      ...inner,
      write: (...changes) => (isAway ? Promise.reject(new Error('away')) : inner.write(...changes)),
    };
    const { server, warnings } = build(small, { store });
    await using client = await connect(server);
    for (let n = 0; n < 2; n++) {
      const result = await client.callTool('long');
      expect(result.content).toHaveLength(1);
      expect(result.text).toContain('The rest was not stored.');
    }
    expect(warnings).toEqual(['A large result could not be stored, so that only its beginning can be read']);
    isAway = false;
    expect(await readAll(client, linkOf(await client.callTool('long')).uri)).toBe(LONG);
  });

  it('lets every process of a server read it', async () => {
    const [inner, bus] = [memoryStore(), memoryBus()];
    const store = { ...inner, close: async () => undefined };
    const [one, other] = [build(small, { store, bus }), build(small, { store, bus })];
    await using writer = await connect(one.server);
    await using reader = await connect(other.server);
    expect(await readAll(reader, linkOf(await writer.callTool('long')).uri)).toBe(LONG);
  });

  it.each([
    'output://',
    'output://x/1',
    `output://${'a'.repeat(32)}/0?offset=-1`,
    `output://${'a'.repeat(32)}/0?offset=1e3`,
    `output://${'a'.repeat(32)}/9999999`,
    'file:///etc/passwd',
  ])('leaves the URI %s to the server', async (uri) => {
    await using client = await connect(build().server);
    expect((await failure(client.readResource(uri))).message).toContain('Resource not found');
  });

  it('says what to do about a link that does not exist, and an offset beyond the end', async () => {
    await using client = await connect(build().server);
    const { uri } = linkOf(await client.callTool('long'));
    for (const wrong of [`output://${'a'.repeat(32)}/0`, `${uri}?offset=999999999`])
      expect((await failure(client.readResource(wrong))).message).toContain('Call the tool again.');
  });

  it('has a budget for each call, or none', async () => {
    const maxChars = vi.fn(({ params }) => (params['name'] === 'long' ? undefined : 10));
    await using client = await connect(build({ ...small, maxChars }).server);
    expect((await client.callTool('long')).text).toBe(LONG);
    expect((await client.callTool('short')).content).toHaveLength(1);
    expect((await client.callTool('emoji')).content).toHaveLength(2);
  });
});

describe('outputBudget', () => {
  it('says that a tool cannot have it', () => {
    const use = [outputBudget()];
    const tools = { a: tool({ use, run: () => 'x' }) };
    expect(() => createServer({ name: 'x', version: '1.0.0', tools })).toThrow(
      'Put it in the "use" of the server',
    );
  });

  it.each([
    ['a question', { resultType: 'input_required', requestState: LONG }],
    ['a task', { resultType: 'task', statusMessage: LONG }],
  ])('does not touch %s', async (_, outcome) => {
    const next = async () => outcome as Outcome;
    expect(await outputBudget(small)(buildCall('tools/call', { name: 'a' }), next)).toBe(outcome);
  });

  it('keeps isError and the `_meta` of a large failure', async () => {
    const large = { ...toolResult(new Error(LONG)), _meta: { a: 1 } };
    const result = await outputBudget(small)(
      buildCall('tools/call', { name: 'a' }),
      async () => large as never,
    );
    expect(result).toMatchObject({ isError: true, _meta: { a: 1 } });
    expect(JSON.stringify(result).length).toBeLessThan(2000);
  });

  it('keeps the structured content if it cannot find out whether the tool declares it', async () => {
    const structuredContent = { text: LONG };
    const next = async ({ method }: { readonly method: string }) => {
      if (method === 'tools/list') throw new Error('away');
      return toolResult(structuredContent) as never;
    };
    const result = await outputBudget(small)(buildCall('tools/call', { name: 'a' }), next);
    expect(result).toMatchObject({ structuredContent });
  });

  it('shortens the results that a client gets, and answers the reads of the rest itself', async () => {
    const server = createServer({
      name: 'remote',
      version: '1.0.0',
      tools: { long: tool({ run: () => ({ LONG }) }) },
    });
    onTestFinished(() => server.close());
    await using client = await connect(server, { use: [outputBudget(small)] });
    const result = await client.callTool('long');
    expect(result.text.length).toBeLessThan(1000);
    expect(JSON.parse(await readAll(client, linkOf(result).uri))).toEqual({ LONG });
  });

  it.each<[unknown, string]>([
    [{ maxChars: 0 }, 'outputBudget: "maxChars" must be a function or an integer, 1 or more, not 0.'],
    [{ pageChars: 99 }, 'outputBudget: "pageChars" must be an integer from 100 to 100000'],
    [{ pageChars: 100_001 }, 'outputBudget: "pageChars" must be an integer from 100 to 100000'],
    [{ ttlMs: Number.NaN }, 'outputBudget: "ttlMs" must be an integer, 1 or more, not NaN.'],
    [{ max: 5 }, 'outputBudget has no option "max"'],
  ])('rejects the options %j', (options, message) => {
    expect(() => outputBudget(options as OutputBudgetOptions)).toThrow(message);
  });
});
