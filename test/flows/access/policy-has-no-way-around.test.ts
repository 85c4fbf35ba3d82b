import fc from 'fast-check';
import { testClient, wires } from 'fullmcp/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Serving, serve } from '../../../src/node.js';
import { openSession } from '../../support/http/sessions.js';
import {
  expectedEffect,
  makeServer,
  type PolicyCallerKind,
  policies,
  type RandomPolicy,
  tools,
} from './random-policies.js';

/** Without a wire, a run costs little. */
const runsOver = (over: string): number => (over === 'in-process' ? 12 : 4);
const TIMEOUT_MS = 240_000;
const guarded = Object.keys(tools).filter((name) => name !== 'outer');

type Answer = 'accept' | 'decline' | 'cancel' | 'none';
const answers = fc.constantFrom<Answer>('accept', 'accept', 'decline', 'cancel', 'none');
const answerOf = (answer: Answer) =>
  answer === 'accept' ? { action: 'accept', content: { approve: true } } : { action: answer };

/** The tools that run, the questions that are asked, and the text that the caller gets, if a decision holds. */
function consequence(effect: ReturnType<typeof expectedEffect>, isApproved: boolean, canAsk: boolean) {
  switch (effect) {
    case 'unknown':
      return { runs: false, asks: false, text: /Unknown tool: / };
    case 'deny':
      return { runs: false, asks: false, text: /the policy of this server does not allow it/ };
    case 'approve':
      if (!canAsk) return { runs: false, asks: false, text: /a person has to approve this call/ };
      return { runs: isApproved, asks: true, text: isApproved ? /ran / : /was not called: the user / };
    case 'allow':
      return { runs: true, asks: false, text: /ran / };
    default:
      throw new Error(effect satisfies never);
  }
}

async function check(
  random: RandomPolicy,
  {
    caller,
    answer,
    options,
  }: { caller: PolicyCallerKind; answer: Answer; options: { over: string; revision: string } },
): Promise<void> {
  const ran: string[] = [];
  const questions: string[] = [];
  const server = makeServer(random, ran);
  const canAsk = answer !== 'none';
  await using client = await testClient(server, {
    ...options,
    ...(typeof caller === 'object' && { caller }),
    ...(answer !== 'none' && {
      elicit: ({ message }: { message: string }) => {
        questions.push(message);
        return answerOf(answer);
      },
    }),
  } as never);
  const isApproved = answer === 'accept';

  const listed = (await client.tools().all()).map(({ name }) => name);
  expect(listed.sort()).toEqual(
    Object.keys(tools)
      .filter((name) => expectedEffect(random, caller, name, 0) !== 'unknown')
      .sort(),
  );

  async function use(
    name: string,
    args: { n: number; tool?: string },
    more: { expected: ReturnType<typeof consequence>; about: string; key?: string },
  ): Promise<void> {
    const { expected, about, key } = more;
    ran.length = 0;
    questions.length = 0;
    const text = await client
      .callTool(name, args as never, (key === undefined ? {} : { idempotencyKey: key }) as never)
      .then(
        (result) => JSON.stringify(result.content),
        (error: Error) => error.message,
      );
    const what = `${name} ${JSON.stringify(args)} ${key ?? ''} -> ${text}`;
    expect(ran, what).toEqual(expected.runs ? [`${about} ${args.n}`] : []);
    expect(questions.filter((question) => question.includes(`the tool "${about}"`)).length, what).toBe(
      expected.asks ? 1 : 0,
    );
    expect(text, what).toMatch(expected.text);
  }

  for (const name of guarded)
    for (const n of [0, 1]) {
      const effect = expectedEffect(random, caller, name, n);
      const expected = consequence(effect, isApproved, canAsk);
      await use(name, { n }, { expected, about: name });
      if (name === 'keep' && typeof caller === 'object') {
        await use(name, { n }, { expected, about: name, key: `k${n}` });
        const isKept = expected.runs || (effect === 'approve' && canAsk);
        // The outcome is kept, a refusal by the user as well: nobody is asked, and nothing runs.
        await use(
          name,
          { n },
          {
            expected: isKept ? { ...expected, runs: false, asks: false } : expected,
            about: name,
            key: `k${n}`,
          },
        );
      }
      // The outer tool asks for itself first.
      const outer = consequence(expectedEffect(random, caller, 'outer', n), isApproved, canAsk);
      await use(
        'outer',
        { n, tool: name },
        { expected: outer.runs ? expected : { ...outer, runs: false, asks: false }, about: name },
      );
    }
  await server.close();
}

describe.each(wires)('over $name', ({ over, revision }) => {
  const isLocal = over === 'in-process' || over === 'stdio';
  const anybody = fc.constantFrom<PolicyCallerKind>(
    { subject: 'ann' },
    { subject: 'bob' },
    isLocal ? 'local' : 'anonymous',
  );

  it(
    'a tool runs if, and only if, the policy allows the call or a person has approved it',
    async () => {
      await fc.assert(
        fc.asyncProperty(policies, anybody, answers, (random, caller, answer) =>
          check(random, { caller, answer, options: { over, revision } }),
        ),
        { numRuns: runsOver(over), endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});

describe('a batch of 2025-03-26', () => {
  const ran: string[] = [];
  let serving: Serving;

  beforeAll(async () => {
    const deny = { tags: undefined, annotations: undefined, caller: undefined, isAsync: false } as const;
    const server = makeServer(
      {
        default: 'allow',
        rules: [
          { ...deny, effect: 'deny', tools: ['job'], numbers: undefined },
          { ...deny, effect: 'deny', tools: ['keep'], numbers: [1] },
          { ...deny, effect: 'approve', tools: ['user_delete'], numbers: undefined },
        ],
      },
      ran,
    );
    serving = await serve(server, { port: 0, signals: false });
  });
  afterAll(() => serving.close());

  it('runs only what the policy allows', async () => {
    const session = await openSession(serving.url, '2025-03-26');
    const call = (id: number, name: string, n: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: { n } },
    });
    const reply = await session.post([
      call(1, 'job', 0),
      call(2, 'keep', 1),
      call(3, 'user_delete', 0),
      call(4, 'keep', 0),
      call(5, 'user_find', 0),
    ]);
    const responses = JSON.parse(reply.text) as { id: number }[];
    const textOf = (id: number): string => JSON.stringify(responses.find((response) => response.id === id));
    expect(textOf(1)).toMatch(/Unknown tool: job/);
    expect(textOf(2)).toMatch(/the policy of this server does not allow it/);
    expect(textOf(3)).toMatch(/a person has to approve this call, and this client cannot ask one/);
    expect(ran.sort()).toEqual(['keep 0', 'user_find 0']);
  });
});
