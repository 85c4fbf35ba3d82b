import {
  createServer,
  inProcess,
  inputRequired,
  memoryStore,
  type Outcome,
  type Peer,
  type Server,
  type Store,
  tool,
} from 'fullmcp';
import { policy } from 'fullmcp/middleware';
import { buildCall } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { hostOf, textOf, toldIn } from '../../../support/fallbacks/host.js';
import { able, accept, waitForStatus } from '../../../support/tasks.js';

/** A tool that takes a step, asks, and takes another one. */
function booking(by?: 'user') {
  const effects: string[] = [];
  const book = tool({
    description: 'Book a train',
    input: z.object({ to: z.string() }),
    run: async ({ to }, ctx) => {
      await ctx.step('hold', () => void effects.push(`hold ${to}`));
      const answer = await ctx.elicit('seat', {
        message: 'Which seat?',
        schema: z.object({ row: z.int().min(1).max(20), window: z.boolean().default(false) }),
        ...(by && { by }),
      });
      if (answer.action !== 'accept') return `${answer.action} by ${answer.answeredBy}`;
      await ctx.step('pay', () => void effects.push(`pay ${to}`));
      return `row ${answer.content.row} of ${to}, answered by ${answer.answeredBy ?? 'the user'}`;
    },
  });
  return { effects, book };
}

const serverWith = (tools: object, more: object = {}): Server =>
  createServer({
    name: 'rail',
    version: '1.0.0',
    secret: 'only for tests, and long enough for that',
    tools: tools as Record<never, never>,
    fallbacks: { asking: 'model' },
    ...more,
  });

describe('a question for a client that cannot ask', () => {
  it('goes to the model in words and with a schema, and its answer is marked', async () => {
    const { book, effects } = booking();
    const host = hostOf(serverWith({ book }));
    const asked = await host.call('book', { to: 'Oslo' });
    const { status, task, questions, message } = toldIn(asked);
    expect(status).toBe('input_required');
    expect(questions?.['seat']).toMatchObject({
      message: 'Which seat?',
      schema: { properties: { row: { type: 'integer' } }, required: ['row'] },
    });
    expect(textOf(asked)).toBe(message);
    expect(message).toContain('Ask the user, and do not answer yourself.');
    const done = await host.call('answer_question', { task, question: 'seat', answer: { row: 4 } });
    expect(textOf(done)).toBe('row 4 of Oslo, answered by model');
    expect(effects).toEqual(['hold Oslo', 'pay Oslo']);
  });

  it('tells the model what is wrong with an answer, and asks again', async () => {
    const { book } = booking();
    const host = hostOf(serverWith({ book }));
    const { task } = toldIn(await host.call('book', { to: 'Oslo' }));
    const wrong = await host.call('answer_question', { task, question: 'seat', answer: { row: 99 } });
    expect(wrong['isError']).toBe(true);
    expect(textOf(wrong)).toContain('does not fit the schema');
    const right = await host.call('answer_question', { task, question: 'seat', answer: { row: 9 } });
    expect(textOf(right)).toContain('row 9');
  });

  it('can be declined', async () => {
    const { book } = booking();
    expect((await hostOf(serverWith({ book })).finish('book', { to: 'Oslo' })).text).toBe('decline by model');
  });

  it('keeps its steps, and takes one answer only, however often the model repeats it or the call', async () => {
    const { book, effects } = booking();
    const host = hostOf(serverWith({ book }));
    const { task } = toldIn(await host.call('book', { to: 'Oslo' }));
    expect(toldIn(await host.call('book', { to: 'Oslo' })).task).toBe(task);
    const answers = [4, 5, 6].map((row) =>
      host.call('answer_question', { task, question: 'seat', answer: { row } }),
    );
    const texts = (await Promise.all(answers)).map(textOf);
    expect(new Set(texts).size).toBe(1);
    expect(effects).toEqual(['hold Oslo', 'pay Oslo']);
  });

  it('is answered in any process of the server', async () => {
    const store: Store = memoryStore();
    const { book, effects } = booking();
    const [one, two] = [serverWith({ book }, { store }), serverWith({ book }, { store })];
    const { task } = toldIn(await hostOf(one).call('book', { to: 'Oslo' }));
    await one.drain();
    const done = await hostOf(two).call('answer_question', { task, question: 'seat', answer: { row: 1 } });
    expect(textOf(done)).toContain('row 1 of Oslo');
    expect(effects).toEqual(['hold Oslo', 'pay Oslo']);
  });

  it('is answered by its caller alone', async () => {
    const { book, effects } = booking();
    const server = serverWith({ book });
    const { task } = toldIn(await hostOf(server).call('book', { to: 'Oslo' }));
    const bob = hostOf(server, { caller: 'bob' });
    const given = { task, question: 'seat', answer: { row: 1 } };
    expect(textOf(await bob.call('answer_question', given))).toContain('There is no task');
    const guessed = { ...given, task: '00000000-0000-4000-8000-000000000000' };
    expect(textOf(await hostOf(server).call('answer_question', guessed))).toContain('There is no task');
    expect(effects).toEqual(['hold Oslo']);
  });

  it('and its tool may take long as well', async () => {
    const both = tool({
      task: 'required',
      run: async (_input, ctx) => {
        const { name } = await ctx.ask('name', { message: 'Who?', schema: z.object({ name: z.string() }) });
        const { age } = await ctx.ask('age', { message: 'How old?', schema: z.object({ age: z.int() }) });
        await new Promise((resolve) => setTimeout(resolve, 30));
        return `${name} is ${age}`;
      },
    });
    const server = serverWith({ both }, { fallbacks: { tasks: { after: 1 }, asking: 'model' } });
    const { text, calls } = await hostOf(server).finish(
      'both',
      {},
      { name: { name: 'Ada' }, age: { age: 36 } },
    );
    expect(text).toBe('Ada is 36');
    expect(calls.filter((name) => name === 'answer_question').length).toBe(2);
  });

  it('of a page of the program is passed on with its link', async () => {
    const connect = tool({
      run: async (_input, ctx) =>
        (await ctx.elicit('visit', { message: 'Sign in', url: 'https://example.com/login' })).action,
    });
    const host = hostOf(serverWith({ connect }));
    const { task, message } = toldIn(await host.call('connect'));
    expect(message).toContain('https://example.com/login');
    expect(textOf(await host.call('answer_question', { task, question: 'visit' }))).toBe('accept');
  });

  it('of a task of a client that can ask is asked there', async () => {
    const both = tool({
      task: 'required',
      run: async (_input, ctx) =>
        (await ctx.ask('name', { message: 'Who?', schema: z.object({ name: z.string() }) })).name,
    });
    const server = serverWith({ both }, { fallbacks: { tasks: {}, asking: 'model' } });
    const request = inProcess(server, { capabilities: { elicitation: {} }, caller: { subject: 'ada' } });
    const params = { name: 'both', arguments: {} };
    const { resultType, inputRequests, requestState } = await request('tools/call', params);
    expect([resultType, Object.keys(inputRequests as object)]).toEqual(['input_required', ['name']]);
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    expect(textOf(await request('tools/call', { ...params, inputResponses, requestState }))).toBe('Ada');
  });

  it('in the raw form is refused, because it cannot be continued elsewhere', async () => {
    const raw = tool({
      run: () =>
        inputRequired({
          stars: {
            method: 'elicitation/create',
            params: { mode: 'form', message: 'How many?', requestedSchema: {} },
          },
        }),
    });
    const outcome = await hostOf(serverWith({ raw })).call('raw');
    expect(outcome['isError']).toBe(true);
  });

  it('is refused in words if the operator says so, also for a host that declares what it does not do', async () => {
    const { book } = booking();
    const server = serverWith({ book }, { fallbacks: { asking: 'refuse' } });
    for (const capabilities of [{}, { elicitation: {} }]) {
      const outcome = await hostOf(server, { capabilities }).call('book', { to: 'Oslo' });
      expect(outcome['isError']).toBe(true);
      expect(textOf(outcome)).toContain('this application cannot ask');
    }
  });
});

describe('a question that only the user may answer', () => {
  const page = 'https://rail.example.com/ask';
  const asking = { fallbacks: { asking: 'model', page } };
  const get = (server: Server, link: string, auth?: string) => reply(server, new Request(link), auth);
  const post = (server: Server, link: string, fields: Record<string, string>, auth?: string) =>
    reply(server, new Request(link, { method: 'POST', body: new URLSearchParams(fields) }), auth);
  const reply = (server: Server, request: Request, subject?: string) =>
    server.askingPage?.reply(
      request,
      subject === undefined ? undefined : { subject, scopes: [], claims: {} },
    ) as Promise<Response>;
  const SEAT = { decision: 'accept', 'f.row': '4', 'f.window': 'true' };
  const codeIn = async (response: Response): Promise<string> =>
    /<code>(\d{3} \d{3})<\/code>/.exec(await response.text())?.[1] ?? 'no code';

  async function asked() {
    const { book, effects } = booking('user');
    const server = serverWith({ book }, asking);
    const host = hostOf(server);
    const { task, questions } = toldIn(await host.call('book', { to: 'Oslo' }));
    return { effects, server, host, task, link: questions?.['seat']?.link ?? '' };
  }

  it('is asked on the page, and counts with the code that the page shows to the user', async () => {
    const { server, host, task, link, effects } = await asked();
    expect(link).toMatch(/^https:\/\/rail\.example\.com\/ask\?q=/);
    const form = await get(server, link);
    expect(form.status).toBe(200);
    const policyOfPage = form.headers.get('content-security-policy') ?? '';
    expect(policyOfPage).toContain("default-src 'none'");
    const html = await form.text();
    expect(html).not.toContain('<script');
    expect(html).toContain('name="f.row" type="number" step="1" min="1" max="20" required');
    const code = await codeIn(await post(server, link, SEAT));
    expect(effects).toEqual(['hold Oslo']);
    const done = await host.call('answer_question', { task, question: 'seat', code });
    expect(textOf(done)).toBe('row 4 of Oslo, answered by the user');
  });

  it('needs no code from a browser that has proved to be the caller', async () => {
    const { server, host, task, link } = await asked();
    expect((await post(server, link, SEAT, 'ada')).status).toBe(200);
    expect(textOf(await host.call('continue_task', { task }))).toContain('row 4');
  });

  it('is not answered by the model, whatever it sends', async () => {
    const { host, task, effects } = await asked();
    for (const given of [{ answer: { row: 4 } }, { answer: { row: 4 }, code: '000000' }, { decline: true }]) {
      const outcome = await host.call('answer_question', { task, question: 'seat', ...given });
      expect(textOf(outcome)).not.toContain('row 4');
    }
    expect(effects).toEqual(['hold Oslo']);
  });

  it('is not answered by another account that opens a forwarded link', async () => {
    const { server, link, effects } = await asked();
    expect((await get(server, link, 'eve')).status).toBe(403);
    expect((await post(server, link, SEAT, 'eve')).status).toBe(403);
    expect(effects).toEqual(['hold Oslo']);
  });

  it('is not answered by a stranger with a forwarded link, who cannot bring the code', async () => {
    const { server, link, task, effects } = await asked();
    const code = await codeIn(await post(server, link, SEAT));
    const eve = hostOf(server, { caller: 'eve' });
    expect(textOf(await eve.call('answer_question', { task, question: 'seat', code }))).toContain(
      'There is no task',
    );
    expect(effects).toEqual(['hold Oslo']);
  });

  it('takes one answer for each link, and none after it', async () => {
    const { server, host, task, link } = await asked();
    const replies = await Promise.all([
      post(server, link, SEAT),
      post(server, link, SEAT),
      post(server, link, SEAT),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const codes = await Promise.all(replies.map(codeIn));
    const code = codes.find((found) => found !== 'no code') as string;
    await host.call('answer_question', { task, question: 'seat', code });
    expect((await post(server, link, SEAT)).status).toBe(404);
    expect((await get(server, link)).status).toBe(404);
  });

  it('stops its work when codes are guessed, also all at once', async () => {
    const { server, host, task, link, effects } = await asked();
    const code = (await codeIn(await post(server, link, SEAT))).replace(' ', '');
    const guesses = Array.from({ length: 20 }, (_, at) =>
      String((Number(code) + at + 1) % 1_000_000).padStart(6, '0'),
    );
    await Promise.allSettled(
      guesses.map((guess) => host.call('answer_question', { task, question: 'seat', code: guess })),
    );
    const late = await host.call('answer_question', { task, question: 'seat', code });
    expect(late['isError']).toBe(true);
    expect(effects).toEqual(['hold Oslo']);
  });

  it('opens no link that was changed, is of another server, or is guessed', async () => {
    const { server, link } = await asked();
    const q = new URL(link).searchParams.get('q') ?? '';
    for (const wrong of ['', 'x', `${q.slice(0, -2)}AA`, q.toUpperCase(), 'a'.repeat(10_000)])
      expect((await get(server, `${page}?q=${encodeURIComponent(wrong)}`)).status).toBe(404);
    const other = serverWith({ book: booking('user').book }, { ...asking, name: 'other' });
    expect((await get(other, link)).status).toBe(404);
    expect((await reply(server, new Request(link, { method: 'PUT' }))).status).toBe(405);
  });

  it('shows the form again if a field is wrong', async () => {
    const { server, link } = await asked();
    const response = await post(server, link, { ...SEAT, 'f.row': '99' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('class="warn"');
    expect((await post(server, link, SEAT)).status).toBe(200);
  });

  it('ends the work if there is no page', async () => {
    const { book, effects } = booking('user');
    const outcome = await hostOf(serverWith({ book })).call('book', { to: 'Oslo' });
    expect(outcome['isError']).toBe(true);
    expect(textOf(outcome)).toContain('in person');
    expect(effects).toEqual(['hold Oslo']);
  });

  it('is every question with asking: url', async () => {
    const { book } = booking();
    const server = serverWith({ book }, { fallbacks: { asking: 'url', page } });
    const host = hostOf(server);
    const { task, questions } = toldIn(await host.call('book', { to: 'Oslo' }));
    const link = questions?.['seat']?.link ?? '';
    const code = await codeIn(await post(server, link, SEAT));
    expect(textOf(await host.call('answer_question', { task, question: 'seat', code }))).toBe(
      'row 4 of Oslo, answered by the user',
    );
  });

  it('is the approval of a policy', async () => {
    const effects: string[] = [];
    const wipe = tool({ run: () => void effects.push('wiped') });
    const access = policy({ default: 'allow', rules: [{ effect: 'approve', tools: 'wipe' }] });
    const server = serverWith({ wipe }, { ...asking, access });
    const host = hostOf(server);
    const { task, questions } = toldIn(await host.call('wipe'));
    const [key = '', { link = '' } = {}] = Object.entries(questions ?? {})[0] ?? [];
    const lie = { task, question: key, answer: { approve: true } };
    await host.call('answer_question', lie);
    expect(effects).toEqual([]);
    const code = await codeIn(await post(server, link, { decision: 'accept', 'f.approve': 'true' }));
    await host.call('answer_question', { task, question: key, code });
    expect(effects).toEqual(['wiped']);
  });
});

describe('a host that cancels questions by itself', () => {
  const terminal = { name: 'claude-code', capabilities: { elicitation: {} } };
  const cancel = { seat: { action: 'cancel' } };

  it.each([
    ['claude-code', 'cancel'],
    ['codex-mcp-client', 'decline'],
  ])(
    'has not asked anybody, so that the question takes another way: %s, which answers %s',
    async (name, action) => {
      const { book, effects } = booking();
      const { request } = hostOf(serverWith({ book }), { ...terminal, name });
      const params = { name: 'book', arguments: { to: 'Oslo' } };
      const { requestState } = await request('tools/call', params);
      const inputResponses = { seat: { action } };
      const again = await request('tools/call', { ...params, requestState, inputResponses });
      expect(toldIn(again).status).toBe('input_required');
      expect(textOf(again)).toContain('Which seat?');
      expect(effects).toEqual(['hold Oslo']);
    },
  );

  it('is believed if a person had the time to read', async () => {
    const { book } = booking();
    const { request } = hostOf(serverWith({ book }), terminal);
    const params = { name: 'book', arguments: { to: 'Oslo' } };
    const { requestState } = await request('tools/call', params);
    const earlier = String(requestState).replace(/^at(\d+)/, (_, at) => `at${Number(at) - 5000}`);
    const outcome = await request('tools/call', { ...params, requestState: earlier, inputResponses: cancel });
    expect(textOf(outcome)).toBe('cancel by undefined');
  });

  it('continues the task of the question also where long calls do not end early', async () => {
    let free!: () => void;
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const book = tool({
      run: async (_input, ctx) => {
        const schema = z.object({ row: z.int() });
        const { row } = await ctx.ask('seat', { message: 'Which seat?', schema });
        await freed;
        return `row ${row}`;
      },
    });
    const fallbacks = { asking: 'model', hosts: { 'claude-code': { callMs: 1000 } } };
    const { request, call } = hostOf(serverWith({ book }, { fallbacks }), terminal);
    const params = { name: 'book', arguments: {} };
    const { requestState } = await request('tools/call', params);
    const again = await request('tools/call', { ...params, requestState, inputResponses: cancel });
    const { task } = toldIn(again);
    const late = await call('answer_question', { task, question: 'seat', answer: { row: 4 } });
    expect(textOf(late)).toContain(`Call continue_task with {"task":"${task}"}`);
    free();
    expect(textOf(await call('continue_task', { task }))).toBe('row 4');
  });

  it('is told in words if there is no other way', async () => {
    const { book } = booking();
    const { request } = hostOf(serverWith({ book }, { fallbacks: { tasks: {} } }), terminal);
    const params = { name: 'book', arguments: { to: 'Oslo' } };
    const { requestState } = await request('tools/call', params);
    const again = await request('tools/call', { ...params, requestState, inputResponses: cancel });
    expect(textOf(again)).toContain('this application cannot ask');
  });

  it('is only a host of which that is known', async () => {
    const { book } = booking();
    const { request } = hostOf(serverWith({ book }), { name: 'another', capabilities: { elicitation: {} } });
    const params = { name: 'book', arguments: { to: 'Oslo' } };
    const { requestState } = await request('tools/call', params);
    const again = await request('tools/call', { ...params, requestState, inputResponses: cancel });
    expect(textOf(again)).toBe('cancel by undefined');
  });
});

describe('a host that cancels questions of tasks by itself', () => {
  const { capabilities } = able;
  const cancel = { seat: { action: 'cancel' } };

  /** A tool that is a task in a client that has tasks. */
  function bookingTask() {
    const actions: string[] = [];
    const book = tool({
      input: z.object({ to: z.string() }),
      task: 'optional',
      run: async ({ to }, ctx) => {
        const schema = z.object({ row: z.int() });
        const answer = await ctx.elicit('seat', { message: 'Which seat?', schema });
        actions.push(answer.action);
        return answer.action === 'accept' ? `row ${answer.content.row} of ${to}` : answer.action;
      },
    });
    return { actions, book };
  }

  const terminal = (server: Server, more: object = capabilities) =>
    hostOf(server, { name: 'claude-code', capabilities: more });

  /** Begins a task, and fetches its question. */
  async function asked(server: Server) {
    const host = terminal(server);
    const { taskId } = await host.call('book', { to: 'Oslo' });
    await waitForStatus(host.request, taskId, 'input_required');
    return { ...host, taskId };
  }

  const resultOf = (task: Outcome): Outcome => task['result'] as Outcome;

  it('has not asked anybody, so that the task ends for it, and its question takes another way', async () => {
    const { book, actions } = bookingTask();
    const store: Store = memoryStore();
    const [one, two] = [serverWith({ book }, { store }), serverWith({ book }, { store })];
    const { taskId } = await asked(one);
    // Another process gets the answer.
    await one.drain();
    const other = terminal(two);
    await other.request('tasks/update', { taskId, inputResponses: cancel });
    const ended = await other.request('tasks/get', { taskId });
    expect(ended).toMatchObject({ taskId, status: 'completed' });
    expect(ended).not.toHaveProperty('inputRequests');
    expect(toldIn(resultOf(ended))).toMatchObject({ status: 'input_required', task: taskId });
    expect(actions).toEqual([]);
    const given = { task: taskId, question: 'seat', answer: { row: 4 } };
    expect(textOf(await other.call('answer_question', given))).toBe('row 4 of Oslo');
    expect(actions).toEqual(['accept']);
  });

  it('is believed if a person had the time to read', async () => {
    const { book, actions } = bookingTask();
    const { request, taskId } = await asked(serverWith({ book }));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 });
    // A question that is fetched again is not a new one.
    await request('tasks/get', { taskId });
    await request('tasks/update', { taskId, inputResponses: cancel });
    expect(textOf(resultOf(await waitForStatus(request, taskId, 'completed')))).toBe('cancel');
    expect(actions).toEqual(['cancel']);
  });

  it('is believed if it answers, however fast', async () => {
    const { book } = bookingTask();
    const { request, taskId } = await asked(serverWith({ book }));
    await request('tasks/update', { taskId, inputResponses: { seat: accept({ row: 2 }) } });
    expect(textOf(resultOf(await waitForStatus(request, taskId, 'completed')))).toBe('row 2 of Oslo');
  });

  it('is told in words if there is no other way, and the task is stopped', async () => {
    for (const fallbacks of [{ tasks: {} }, { tasks: {}, asking: 'refuse' }]) {
      const { book, actions } = bookingTask();
      const { request, taskId } = await asked(serverWith({ book }, { fallbacks }));
      await request('tasks/update', { taskId, inputResponses: cancel });
      const ended = await request('tasks/get', { taskId });
      expect(ended).toMatchObject({ status: 'completed', result: { isError: true } });
      expect(textOf(resultOf(ended))).toContain('this application cannot ask');
      expect(actions).toEqual([]);
    }
  });

  it('is told so in its call as well, if it has no tasks, and is not asked again and again', async () => {
    const { book, actions } = bookingTask();
    const host = terminal(serverWith({ book }, { fallbacks: { tasks: {} } }), { elicitation: {} });
    const params = { name: 'book', arguments: { to: 'Oslo' } };
    const { resultType, requestState } = await host.request('tools/call', params);
    expect(resultType).toBe('input_required');
    const again = await host.request('tools/call', { ...params, requestState, inputResponses: cancel });
    expect(again).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(again)).toContain('this application cannot ask');
    expect(actions).toEqual([]);
  });

  it('is only a host of which that is known', async () => {
    const { book } = bookingTask();
    const host = hostOf(serverWith({ book }), { name: 'another', capabilities });
    const { taskId } = await host.call('book', { to: 'Oslo' });
    await waitForStatus(host.request, taskId, 'input_required');
    await host.request('tasks/update', { taskId, inputResponses: cancel });
    expect(textOf(resultOf(await waitForStatus(host.request, taskId, 'completed')))).toBe('cancel');
  });
});

describe('a host that shows questions in sessions alone', () => {
  const discover = (fallbacks: object, more: { transport?: string; revision?: Peer['revision'] } = {}) => {
    const { transport = 'stdio', revision = '2026-07-28' } = more;
    const { book } = booking();
    const client = { name: 'github-copilot-developer', version: '1.0.89' };
    const peer = { revision, client, capabilities: {}, logLevel: undefined };
    const call = buildCall('server/discover', {}, { peer, via: { transport } });
    return serverWith({ book }, { fallbacks }).dispatch(call);
  };

  it('is told to open one by a server on its own computer that asks', async () => {
    await expect(discover({ asking: 'model' })).rejects.toMatchObject({ code: 'method_not_found' });
  });

  it('is served as it is where a session may be impossible, in a session, and by a server that does not ask', async () => {
    const served = { supportedVersions: expect.arrayContaining(['2026-07-28']) };
    await expect(discover({ asking: 'model' }, { transport: 'http' })).resolves.toMatchObject(served);
    await expect(discover({ asking: 'model' }, { revision: '2025-11-25' })).resolves.toMatchObject(served);
    await expect(discover({ tasks: {} })).resolves.toMatchObject(served);
  });

  it('is not asked in 2026-07-28, whatever it declares', async () => {
    const { book } = booking();
    const host = hostOf(serverWith({ book }), {
      name: 'github-copilot-developer',
      capabilities: { elicitation: {} },
    });
    expect(toldIn(await host.call('book', { to: 'Oslo' })).status).toBe('input_required');
  });
});
