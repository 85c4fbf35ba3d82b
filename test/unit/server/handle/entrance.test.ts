import { createServer, inProcess, type Outcome, resource, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const ann = { subject: 'ann', scopes: ['read'] };
const bob = { subject: 'bob', scopes: ['read', 'write'] };

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string; data: unknown }> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeDefined();
  const { code, message, data } = error;
  return { code, message, data };
}

describe('a call that a handler makes for its caller', () => {
  const server = createServer({
    ...quiet,
    tools: {
      secret: tool({ scopes: ['write'], run: () => 'the secret' }),
      own: tool({
        input: z.object({ of: z.string() }),
        allow: (auth, input) => input === undefined || input.of === auth?.subject,
        run: ({ of }) => of,
      }),
      outer: tool({ run: async (_, ctx) => (await ctx.call('secret')).content }),
      reader: tool({ run: async (_, ctx) => (await ctx.read('doc://secret')).length }),
      asks: tool({
        input: z.object({ of: z.string() }),
        run: async ({ of }, ctx) => (await ctx.call('own', { of })).content,
      }),
    },
    resources: { 'doc://secret': resource({ allow: (auth) => auth?.subject === 'bob', read: () => 'text' }) },
  });

  it.each([
    ['outer', {}],
    ['reader', {}],
    ['asks', { of: 'bob' }],
  ])('obeys the same rules: %s', async (name, args) => {
    await expect(
      inProcess(server, { caller: ann })('tools/call', { name, arguments: args }),
    ).rejects.toThrow();
    expect(await inProcess(server, { caller: bob })('tools/call', { name, arguments: args })).toMatchObject({
      resultType: 'complete',
    });
    expect(
      anonymousOutcome(
        await anonymously(server)('tools/call', { name, arguments: args }).catch(() => undefined),
      ),
    ).toBe('refused');
  });
});

describe('a rule is checked again', () => {
  it('in each round of a call that asks questions', async () => {
    let isAllowed = true;
    const rounds: number[] = [];
    const server = createServer({
      ...quiet,
      tools: {
        order: tool({
          allow: () => isAllowed,
          run: async (_, ctx) => {
            rounds.push(1);
            const { n } = await ctx.ask('n', { message: 'How many?', schema: z.object({ n: z.number() }) });
            return n;
          },
        }),
      },
    });
    const call = inProcess(server, { caller: ann, capabilities: { elicitation: {} } });
    const { requestState } = await call('tools/call', { name: 'order' });
    const answer = {
      name: 'order',
      requestState,
      inputResponses: { n: { action: 'accept', content: { n: 2 } } },
    };
    isAllowed = false;
    expect(await failureOf(call('tools/call', answer))).toMatchObject({ message: 'Unknown tool: order' });
    expect(rounds).toHaveLength(1);
    isAllowed = true;
    expect(await call('tools/call', answer)).toMatchObject({
      resultType: 'complete',
    });
  });

  it('when a call is repeated with its idempotency key, so that a stored outcome is not given away', async () => {
    const server = createServer({
      ...quiet,
      tools: { pay: tool({ scopes: ['write'], idempotency: true, run: () => 'paid with 4242' }) },
    });
    const params = { name: 'pay', _meta: { 'fullmcp/idempotencyKey': 'k1' } };
    const first = await inProcess(server, { caller: bob })('tools/call', params);
    expect(JSON.stringify(first)).toContain('4242');
    const less = inProcess(server, { caller: { ...bob, scopes: ['read'] } });
    expect(await failureOf(less('tools/call', params))).toMatchObject({
      code: 'forbidden',
      data: { scopes: ['write'] },
    });
  });
});

describe('a custom method', () => {
  it('obeys the rules of the server, and does not exist for a caller that they refuse', async () => {
    const server = createServer({
      ...quiet,
      access: { allow: (auth) => auth?.subject === 'bob', scopes: ['read'] },
      methods: { 'acme/x': { run: () => ({ ok: true }) } },
    });
    expect(await inProcess(server, { caller: bob })('acme/x')).toMatchObject({ ok: true });
    const refused = await failureOf(inProcess(server, { caller: ann })('acme/x'));
    const missing = await failureOf(inProcess(createServer(quiet), { caller: ann })('acme/x'));
    expect(refused).toEqual(missing);
    expect(await failureOf(inProcess(server, { caller: { subject: 'bob' } })('acme/x'))).toMatchObject({
      code: 'forbidden',
    });
  });
});

/** Calls as an anonymous caller of another computer does: neither local nor identified. */
function anonymously(server: {
  readonly dispatch: Parameters<typeof inProcess>[0]['dispatch'];
}): ReturnType<typeof inProcess> {
  const { dispatch } = server;
  return inProcess({ dispatch: (call) => dispatch({ ...call, signal: call.signal, isLocal: undefined }) });
}

function anonymousOutcome(outcome: Outcome | undefined): string {
  return outcome === undefined ? 'refused' : 'served';
}
