import fc from 'fast-check';
import { createServer, type DefinitionError, inProcess, tool } from 'fullmcp';
import { type PolicyOptions, type PolicyRule, policy } from 'fullmcp/middleware';
import { buildCall, testClient } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ToolUse } from '../../../../src/protocol/tool-use.js';
import { matchesPattern } from '../../../../src/server/policy/patterns.js';

const facts = { tags: [], readOnly: false, destructive: true, idempotent: false, openWorld: true };
const useOf = (more: Partial<ToolUse> = {}, toolFacts: object = {}): ToolUse => ({
  tool: { name: 'pay', ...facts, ...toolFacts },
  auth: undefined,
  isLocal: false,
  input: {},
  ...more,
});
const ada = { subject: 'ada', scopes: ['pay'], claims: {} };

async function decide(options: PolicyOptions, use: ToolUse = useOf()): Promise<string> {
  const one = policy(options).policy.forTool(use.tool, (error) => {
    throw error;
  });
  const caller = { auth: use.auth, isLocal: use.isLocal };
  if (use.input === undefined) return (await one.admits(caller, undefined)) ? 'allow' : 'deny';
  let isAsked = false;
  const ctx = {
    askForApproval: async () => {
      isAsked = true;
      return { action: 'decline' } as const;
    },
  };
  const refusal = await one.refusal(use.input, ctx, buildCall('tools/call', {}, caller));
  return isAsked ? 'approve' : refusal === undefined ? 'allow' : 'deny';
}

describe('the strictest rule that applies decides', () => {
  const rules: Record<string, PolicyRule> = {
    allow: { effect: 'allow' },
    approve: { effect: 'approve' },
    deny: { effect: 'deny' },
  };
  it.each([
    [['allow'], 'allow'],
    [['allow', 'approve'], 'approve'],
    [['approve', 'deny'], 'deny'],
    [['allow', 'deny'], 'deny'],
    [['deny', 'approve', 'allow'], 'deny'],
  ])('%j: %s, in any order, whatever the default', async (names, effect) => {
    for (const order of [names, [...names].reverse()])
      for (const otherwise of ['allow', 'approve', 'deny'] as const)
        expect(
          await decide({ default: otherwise, rules: order.map((name) => rules[name] as PolicyRule) }),
        ).toBe(effect);
  });

  it('and the default decides if none applies', async () => {
    for (const otherwise of ['allow', 'approve', 'deny'] as const)
      expect(await decide({ default: otherwise, rules: [{ effect: 'allow', tools: 'other' }] })).toBe(
        otherwise,
      );
  });
});

describe('a rule applies', () => {
  const isMatch = async (rule: Omit<PolicyRule, 'effect'>, use?: ToolUse): Promise<boolean> =>
    (await decide({ default: 'allow', rules: [{ ...rule, effect: 'deny' }] }, use)) === 'deny';

  it.each<[Omit<PolicyRule, 'effect'>, boolean]>([
    [{ tools: 'pay' }, true],
    [{ tools: ['find', 'p*'] }, true],
    [{ tools: 'Pay' }, false],
    [{ tools: 'pay', tags: 'money' }, false],
    [{ annotations: { destructive: true } }, true],
    [{ annotations: { destructive: true, readOnly: true } }, false],
    [{ annotations: { openWorld: true, idempotent: false } }, true],
    [{ caller: 'anonymous' as const }, true],
    [{ caller: 'authenticated' as const }, false],
    [{ caller: 'local' as const }, false],
    [{ caller: () => true, input: () => true }, true],
    [{ caller: () => true, input: () => false }, false],
    [{ caller: async () => false, input: () => true }, false],
  ])('if all its conditions hold: %j', async (rule, expected) => {
    expect(await isMatch(rule)).toBe(expected);
  });

  it('to callers as they are', async () => {
    for (const [use, caller] of [
      [{ auth: ada }, 'authenticated'],
      [{ isLocal: true }, 'local'],
      [{}, 'anonymous'],
    ] as const)
      for (const kind of ['authenticated', 'local', 'anonymous'] as const)
        expect(await isMatch({ caller: kind }, useOf(use))).toBe(kind === caller);
    expect(
      await isMatch({ caller: (auth) => auth?.scopes.includes('pay') === true }, useOf({ auth: ada })),
    ).toBe(true);
  });

  it('to tools that have one of its tags', async () => {
    const tagged = useOf({}, { tags: ['money', 'slow'] });
    expect(await isMatch({ tags: ['fast', 'money'] }, tagged)).toBe(true);
    expect(await isMatch({ tags: ['fast'] }, tagged)).toBe(false);
  });

  it('to arguments, and the function gets them typed', async () => {
    const rule = { input: ({ amount }: { amount: number }) => amount > 100 };
    expect(await isMatch(rule, useOf({ input: { amount: 101 } }))).toBe(true);
    expect(await isMatch(rule, useOf({ input: { amount: 100 } }))).toBe(false);
  });
});

describe('without arguments, a policy denies only what it denies with all arguments', () => {
  const list = useOf({ input: undefined });
  const some = { input: () => true };
  it.each([
    ['deny', [], 'deny'],
    ['approve', [], 'allow'],
    ['deny', [{ effect: 'allow', ...some }], 'allow'],
    ['deny', [{ effect: 'approve', ...some }], 'allow'],
    ['deny', [{ effect: 'deny', ...some }], 'deny'],
    ['allow', [{ effect: 'deny', ...some }], 'allow'],
    ['allow', [{ effect: 'deny' }, { effect: 'allow', ...some }], 'deny'],
    ['deny', [{ effect: 'allow' }, { effect: 'deny', ...some }], 'allow'],
  ] as const)('default %s, %j: %s', async (otherwise, rules, effect) => {
    expect(await decide({ default: otherwise, rules: rules as readonly PolicyRule[] }, list)).toBe(effect);
  });
});

describe('a policy that fails denies', () => {
  it.each<[string, PolicyRule]>([
    [
      'throws',
      {
        effect: 'allow',
        input: () => {
          throw new Error('broken');
        },
      },
    ],
    [
      'rejects',
      {
        effect: 'allow',
        caller: async () => {
          throw new Error('broken');
        },
      },
    ],
    ['returns no boolean', { effect: 'allow', input: (() => 'yes') as never }],
    ['forgets to return', { effect: 'deny', caller: (() => undefined) as never }],
    ['resolves with no boolean', { effect: 'deny', input: (async () => 0) as never }],
  ])('because a condition %s, and the operator is told', async (_, rule) => {
    const log = vi.fn();
    const run = vi.fn();
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      logger: log,
      access: policy({ default: 'allow', rules: [rule] }),
      tools: { pay: tool({ run }) },
    });
    const outcome = await inProcess(server)('tools/call', { name: 'pay' }).catch((error) => error);
    expect(outcome.message ?? JSON.stringify(outcome)).toMatch(/Unknown tool: pay|does not allow it/);
    expect(run).not.toHaveBeenCalled();
    expect(log).toHaveBeenCalledWith(
      'error',
      'The policy of the tool "pay" failed, so the caller was refused.',
      expect.any(Error),
    );
  });
});

describe('a mistake in a policy', () => {
  it.each([
    [{}, 'policy: "default" must be "allow", "deny" or "approve", not '],
    [{ default: 'ask' }, 'policy: "default" must be "allow", "deny" or "approve", not '],
    [{ default: 'deny', rule: [] }, 'policy has no option "rule". Did you mean "rules"?'],
    [{ default: 'deny', rules: {} }, 'policy: "rules" must be an array'],
    [
      { default: 'deny', rules: [{}] },
      'policy: rules[0]: "effect" must be "allow", "deny" or "approve", not undefined.',
    ],
    [
      { default: 'deny', rules: [{ effect: 'allow' }, null] },
      'policy: rules[1]: the options must be an object',
    ],
    [{ default: 'deny', rules: [{ effect: 'allow', tool: 'x' }] }, 'Did you mean "tools"?'],
    [
      { default: 'deny', rules: [{ effect: 'allow', tools: [] }] },
      'rules[0].tools must be a string or an array',
    ],
    [
      { default: 'deny', rules: [{ effect: 'allow', tags: [1] }] },
      'rules[0]: "tags" must be a string or an array of strings, not ',
    ],
    [
      { default: 'deny', rules: [{ effect: 'allow', caller: 'admin' }] },
      'rules[0]: "caller" must be "authenticated", "anonymous", "local" or a function, not ',
    ],
    [
      { default: 'deny', rules: [{ effect: 'allow', input: {} }] },
      'rules[0]: "input" must be a function, not an object.',
    ],
    [
      { default: 'deny', rules: [{ effect: 'allow', annotations: { destructiveHint: true } }] },
      'Did you mean "destructive"?',
    ],
    [
      { default: 'deny', rules: [{ effect: 'allow', annotations: { readOnly: 1 } }] },
      '"annotations.readOnly" must be a boolean, not 1.',
    ],
    [{ default: 'deny', rules: [{ effect: 'deny', question: 'Why?' }] }, 'needs the effect "approve"'],
  ])('is reported with what to do: %j', (options, message) => {
    expect(() => policy(options as never)).toThrow(message);
  });

  const problemsOf = (rule: PolicyRule): readonly string[] => {
    try {
      createServer({
        name: 'test',
        version: '1.0.0',
        logger: () => undefined,
        access: policy({ default: 'deny', rules: [rule] }),
        tools: { delete_file: tool({ tags: ['files'], run: () => 'x' }) },
      });
      return [];
    } catch (error) {
      return (error as DefinitionError).problems;
    }
  };

  it('in the name of a tool is reported when the server is created, because the rule would protect nothing', () => {
    expect(problemsOf({ effect: 'deny', tools: ['delete_fiel'] })).toEqual([
      'policy: rules[0].tools has "delete_fiel", and no tool has such a name. Did you mean "delete_file"?',
    ]);
    expect(problemsOf({ effect: 'deny', tools: ['remove_*'] })).toEqual([
      'policy: rules[0].tools has "remove_*", and no tool has such a name. Tools that are added later need a rule with tags or annotations.',
    ]);
    expect(problemsOf({ effect: 'deny', tags: ['flies'] })).toEqual([
      'policy: rules[0].tags has "flies", and no tool has that tag. Did you mean "files"?',
    ]);
    for (const right of [{ tools: ['delete_*', '*'] }, { tools: 'delete_file' }, { tags: ['admin'] }])
      expect(problemsOf({ effect: 'deny', ...right })).toEqual([]);
  });

  it('is something else than a policy', () => {
    expect(() =>
      createServer({ name: 'a', version: '1', access: { policy: { default: 'deny' } } } as never),
    ).toThrow('"access.policy" must be made with policy({ default, rules }) of fullmcp/middleware');
  });
});

describe('a server with a policy', () => {
  it('applies it to tools that are added later', async () => {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      logger: () => undefined,
      access: policy({ default: 'deny', rules: [{ effect: 'allow', tags: 'open' }] }),
      tools: {},
    });
    server.tool('closed', {}, () => 'ran');
    server.tool('open', { tags: ['open'] }, () => 'ran');
    await using client = await testClient(server);
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['open']);
    await expect(client.callTool('closed')).rejects.toThrow('Unknown tool: closed');
    expect((await client.callTool('open')).text).toBe('ran');
  });

  it('applies the other rules of access, too, and lists are private', async () => {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      logger: () => undefined,
      access: { scopes: ['read'], ...policy({ default: 'allow', rules: [{ effect: 'deny', tools: 'b' }] }) },
      tools: { a: tool({ run: () => 'a' }), b: tool({ run: () => 'b' }) },
    });
    const call = inProcess(server, { caller: { subject: 'ada' } });
    await expect(call('tools/call', { name: 'a' })).rejects.toThrow(/This needs the scope read/);
    // A tool that the policy denies does not exist, so its scopes are not mentioned.
    await expect(call('tools/call', { name: 'b' })).rejects.toThrow('Unknown tool: b');
    const reader = inProcess(server, { caller: { subject: 'ada', scopes: ['read'] } });
    expect(await reader('tools/list')).toMatchObject({ cacheScope: 'private', tools: [{ name: 'a' }] });
  });

  it('gives rules the arguments as the handler gets them', async () => {
    const seen: unknown[] = [];
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      logger: () => undefined,
      access: policy({
        default: 'deny',
        rules: [{ effect: 'allow', input: (input) => seen.push(input) > 0 }],
      }),
      tools: {
        a: tool({ input: z.object({ n: z.coerce.number(), d: z.string().default('x') }), run: () => 'a' }),
      },
    });
    const call = inProcess(server);
    await call('tools/call', { name: 'a', arguments: { n: '5', extra: 1 } });
    expect(seen.length).toBeGreaterThan(0);
    for (const input of seen) expect(input).toEqual({ n: 5, d: 'x' });
    const before = seen.length;
    expect(await call('tools/call', { name: 'a', arguments: {} })).toMatchObject({ isError: true });
    expect(seen).toHaveLength(before);
  });
});

describe('a pattern', () => {
  it('matches like the regular expression that it abbreviates', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 8 });
    const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(patterns, letters, (pattern, name) => {
        expect(matchesPattern(pattern, name)).toBe(
          new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name),
        );
      }),
      { numRuns: 2000 },
    );
  });
});
