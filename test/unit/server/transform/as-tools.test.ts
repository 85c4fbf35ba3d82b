import { createServer, inProcess, type Outcome, prompt, resource } from 'fullmcp';
import { promptsAsTools, resourcesAsTools } from 'fullmcp/transform';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const texts = (outcome: Outcome): (string | undefined)[] =>
  (outcome['content'] as { text?: string }[]).map(({ text }) => text);

function docs() {
  return createServer({
    ...quiet,
    name: 'docs',
    pageSize: 2,
    tools: { ...resourcesAsTools(), ...promptsAsTools() },
    resources: {
      'a://1': resource({ read: () => 'one' }),
      'a://2': resource({ read: () => new Uint8Array([1]), mimeType: 'image/png' }),
      'a://3': resource({ allow: (auth) => auth?.subject === 'ada', read: () => 'three' }),
      'b://{id}': resource({ tags: ['secret'], read: ({ id }) => id }),
    },
    prompts: {
      greet: prompt({ args: z.object({ name: z.string() }), run: ({ name }) => `Hello, ${name}` }),
      asks: prompt({
        run: async (_args, ctx) =>
          ctx.ask('who', { message: 'Who?', schema: z.object({ who: z.string() }) }).then(({ who }) => who),
      }),
    },
  });
}

const ask = (server: object, subject: string) => {
  const request = inProcess(server as never, {
    caller: { subject },
    capabilities: { elicitation: { form: {} } },
  });
  return (name: string, args: object = {}): Promise<Outcome> =>
    request('tools/call', { name, arguments: args });
};

describe('resources and prompts as tools', () => {
  it('list and read what the caller sees, page by page', async () => {
    const [ada, bob] = [ask(docs(), 'ada'), ask(docs(), 'bob')];
    const first = JSON.parse(texts(await ada('list_resources'))[0] ?? '');
    expect(first).toMatchObject({
      resources: [{ uri: 'a://1' }, { uri: 'a://2' }],
      resourceTemplates: [{ uriTemplate: 'b://{id}' }],
      nextCursor: expect.any(String),
    });
    const second = JSON.parse(texts(await ada('list_resources', { cursor: first.nextCursor }))[0] ?? '');
    expect(second).toEqual({ resources: [expect.objectContaining({ uri: 'a://3' })] });
    expect(texts(await bob('list_resources'))[0]).not.toContain('a://3');
    expect(texts(await ada('read_resource', { uri: 'a://3' }))).toEqual(['three']);
    expect(await bob('read_resource', { uri: 'a://3' })).toMatchObject({
      isError: true,
      content: [{ text: 'Resource not found: a://3' }],
    });
    expect(texts(await bob('read_resource', { uri: 'b://7' }))).toEqual(['7']);
    expect((await ada('read_resource', { uri: 'a://2' }))['content']).toEqual([
      { type: 'image', data: 'AQ==', mimeType: 'image/png' },
    ]);
  });

  it('get prompts, with their errors for the model', async () => {
    const ada = ask(docs(), 'ada');
    expect(texts(await ada('list_prompts'))[0]).toContain('greet');
    expect(texts(await ada('get_prompt', { name: 'greet', arguments: { name: 'Ada' } }))).toEqual([
      'user:',
      'Hello, Ada',
    ]);
    expect(texts(await ada('get_prompt', { name: 'great' }))[0]).toMatch(/Did you mean "greet"/);
    expect(texts(await ada('get_prompt', { name: 'greet' }))[0]).toMatch(/Invalid arguments/);
    expect(texts(await ada('get_prompt', { name: 'asks' }))[0]).toMatch(/asks the user questions/);
  });

  it('act on the outer server, whose rules count, if they are mounted', async () => {
    const outer = createServer({
      ...quiet,
      name: 'outer',
      access: { tags: { secret: { allow: (auth) => auth?.subject === 'ada' } } },
      mount: { docs: docs() },
      resources: { 'own://1': resource({ read: () => 'own' }) },
    });
    const [ada, bob] = [ask(outer, 'ada'), ask(outer, 'bob')];
    expect(texts(await ada('docs_list_resources'))[0]).toContain('docs+a://1');
    expect(texts(await ada('docs_read_resource', { uri: 'own://1' }))).toEqual(['own']);
    expect(texts(await ada('docs_read_resource', { uri: 'docs+b://7' }))).toEqual(['7']);
    for (const uri of ['docs+b://7', 'b://7'])
      expect(texts(await bob('docs_read_resource', { uri }))[0]).toBe(`Resource not found: ${uri}`);
    expect(texts(await ada('docs_get_prompt', { name: 'docs_greet', arguments: { name: 'Ada' } }))).toEqual([
      'user:',
      'Hello, Ada',
    ]);
  });
});
