import fc from 'fast-check';
import { testClient, wires } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { quiet as settle } from '../../support/tasks.js';
import { until } from '../../support/until.js';
import {
  callers,
  expected,
  guarded,
  indexOf,
  isOpen,
  makeServer,
  type RandomCaller,
  type RandomRules,
  rules,
  uriOf,
} from './random-rules.js';

type Client = Awaited<ReturnType<typeof testClient>>;
type Kind = keyof typeof guarded;
type Reaction = { readonly result: unknown } | { readonly code: string; readonly message: string };

/** Without a wire, a run costs little. */
const runsOver = (over: string): number => (over === 'in-process' ? 15 : 4);
const TIMEOUT_MS = 120_000;
const lists = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** Every request that names a component, beside the component that it names. */
const requests: readonly (readonly [Kind, string, method: string, params: Record<string, unknown>])[] = [
  ...guarded.tools.map((name) => ['tools', name, 'tools/call', { name }] as const),
  ...guarded.tools.map(
    (name) => ['tools', name, 'tools/call', { name: 'nested', arguments: { tool: name } }] as const,
  ),
  ...guarded.prompts.map(
    (name) => ['prompts', name, 'prompts/get', { name, arguments: { id: 'x' } }] as const,
  ),
  ...guarded.prompts.map(
    (name) =>
      [
        'prompts',
        name,
        'completion/complete',
        { ref: { type: 'ref/prompt', name }, argument: { name: 'id', value: '' } },
      ] as const,
  ),
  ...guarded.resources.map((uri) => ['resources', uri, 'resources/read', { uri }] as const),
  ...guarded.resources.map(
    (uri) => ['resources', uri, 'tools/call', { name: 'nested', arguments: { uri } }] as const,
  ),
  ...guarded.templates.map((name) => ['templates', name, 'resources/read', { uri: uriOf(name) }] as const),
  ...guarded.templates.map(
    (uri) =>
      [
        'templates',
        uri,
        'completion/complete',
        { ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: '' } },
      ] as const,
  ),
];

async function react(client: Client, method: string, params: Record<string, unknown>): Promise<Reaction> {
  return client.request(method, structuredClone(params)).then(
    ({ _meta, ttlMs, cacheScope, ...result }) => ({
      result: result['resultType'] === 'task' ? 'ran as a task' : result,
    }),
    ({ code, message }) => ({ code, message }),
  );
}

async function listed(client: Client, method: string, field: string): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await client.request(method, cursor === undefined ? {} : { cursor });
    items.push(...(page[field] as unknown[]));
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return items;
}

/** A caller must get from a server with rules what it gets from a server that has only the components for it. */
async function check(random: RandomRules, caller: RandomCaller | 'local', options: object): Promise<void> {
  const server = makeServer(random);
  const verdict = (kind: Kind, name: string, phase: 'list' | 'use') =>
    expected(random, caller, indexOf(kind, name), phase);
  const reduced = makeServer(random, (kind, name) => verdict(kind, name, 'list') === 'allowed');
  const identity = typeof caller === 'object' ? { caller } : {};
  await using client = await testClient(server, { ...options, ...identity });
  await using model = await testClient(reduced, { ...options, ...identity });

  for (const [method, field] of lists) {
    const items = (await listed(model, method, field)) as { uri?: string }[];
    // An entry that a template lists is hidden if its variables are refused.
    const readable = items.filter(({ uri }) => {
      const template = guarded.templates.find((name) => uriOf(name) === uri);
      return template === undefined || verdict('templates', template, 'use') === 'allowed';
    });
    expect(await listed(client, method, field), method).toEqual(readable);
  }

  for (const [kind, name, method, params] of requests) {
    if (params['name'] === 'nested' && !isOpen(random.server)) continue;
    const what = `${method} ${JSON.stringify(params)}`;
    const phase = method === 'completion/complete' ? 'list' : 'use';
    const reaction = await react(client, method, params);
    const decision = verdict(kind, name, phase);
    if (decision === 'allowed') {
      expect(reaction, what).toHaveProperty('result');
      expect(JSON.stringify(reaction), what).toMatch(/ran |got |read |served|one/);
      expect(reaction, what).toEqual(await react(model, method, params));
    } else if (decision !== 'unknown') {
      // A client over HTTP reads the challenge, not the message, of a reply that asks it to log in.
      if (caller === undefined && 'code' in reaction && reaction.code === 'unauthorized') continue;
      const text = JSON.stringify(reaction);
      expect(text, what).toMatch(/This needs/);
      for (const scope of decision) expect(text, what).toContain(` ${scope}`);
    } else {
      const text = JSON.stringify(reaction);
      expect(text, what).toMatch(/Unknown (tool|prompt|resource template): |Resource not found: /);
      // Only refused with this input: the model, which has no rules, has the component.
      if (verdict(kind, name, 'list') === 'unknown')
        expect(reaction, what).toEqual(await react(model, method, params));
    }
  }
  for (const name of ['user_delet', 'user_fin', 'jobs', 'revie'])
    for (const method of ['tools/call', 'prompts/get'])
      expect(await react(client, method, { name })).toEqual(await react(model, method, { name }));
  await checkUpdates(client, { server, verdict });
  await Promise.all([server.close(), reduced.close()]);
}

async function checkUpdates(
  client: Client,
  {
    server,
    verdict,
  }: {
    readonly server: ReturnType<typeof makeServer>;
    readonly verdict: (kind: Kind, name: string, phase: 'list' | 'use') => ReturnType<typeof expected>;
  },
): Promise<void> {
  const decisions = new Map([
    ...guarded.resources.map((uri) => [uri, verdict('resources', uri, 'use')] as const),
    ...guarded.templates.map((name) => [uriOf(name), verdict('templates', name, 'use')] as const),
    ['doc://unknown', 'allowed'] as const,
  ]);
  const uris = [...decisions].filter(([, decision]) => typeof decision === 'string').map(([uri]) => uri);
  const seen = new Set<string>();
  await using subscription = await client.subscribe(
    { uris },
    { onChange: (change) => void (change.kind === 'resource' && seen.add(change.uri)) },
  );
  expect(new Set(subscription.accepted.uris)).toEqual(new Set(uris));
  const wanted = uris.filter((uri) => decisions.get(uri) === 'allowed' && uri !== 'doc://unknown');
  await settle();
  for (const uri of decisions.keys()) if (uri !== 'doc://unknown') server.changed.resource(uri);
  await settle();
  // Everything that was sent before is read before this one.
  server.changed.resource('doc://unknown');
  await until('the last change is reported', () => seen.has('doc://unknown'));
  expect([...seen].filter((uri) => uri !== 'doc://unknown').sort()).toEqual([...wanted].sort());
  for (const [uri, decision] of decisions)
    if (typeof decision !== 'string')
      expect(
        await client.subscribe(uri).then(
          ({ accepted }) => accepted.uris ?? [],
          () => [],
        ),
      ).toEqual([]);
}

describe.each(wires)('over $name', ({ over, revision }) => {
  const isLocal = over === 'in-process' || over === 'stdio';

  it(
    'a caller sees, calls, reads, completes and follows exactly what the rules leave to it',
    async () => {
      await fc.assert(
        fc.asyncProperty(rules, callers, (random, caller) => check(random, caller, { over, revision })),
        { numRuns: runsOver(over), endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );

  it.runIf(isLocal)(
    'a local caller is trusted',
    async () => {
      await fc.assert(
        fc.asyncProperty(rules, (random) => check(random, 'local', { over, revision })),
        { numRuns: 2, endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );

  it.runIf(!isLocal)(
    'an anonymous caller is not trusted',
    async () => {
      await fc.assert(
        fc.asyncProperty(rules, (random) => check(random, undefined, { over, revision })),
        { numRuns: runsOver(over), endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});
