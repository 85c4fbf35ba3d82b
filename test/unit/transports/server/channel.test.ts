import { createServer, McpError, type Middleware, tool } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { openChannel } from '../../../../src/transports/server/channel.js';
import { modernMessage } from '../../../support/http/modern.js';
import { until } from '../../../support/until.js';

interface Response {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

function callMessage(id: number, name: string, meta: Record<string, unknown> = {}): string {
  return JSON.stringify(
    modernMessage('tools/call', { name, arguments: name === 'now' ? { id } : {} }, { id, meta }),
  );
}

/** A channel to a server, whose peer reads nothing while `isFull` is set. */
function channelTo(options: { readonly use?: readonly Middleware[] } = {}) {
  const began: unknown[] = [];
  const sent: Response[] = [];
  const reading: string[] = [];
  const output = { isFull: false };
  const server = createServer({
    name: 'channel',
    version: '1',
    tools: {
      now: tool({ input: { type: 'object' }, run: ({ id }: { id?: number }) => void began.push(id) }),
      later: tool({ run: async () => 'later' }),
      progress: tool({ run: (_input, ctx) => void ctx.progress(1) }),
      refuse: tool({
        run: () => {
          throw new McpError('invalid_params', 'Not today');
        },
      }),
    },
    ...options,
  });
  const channel = openChannel({
    dispatch: server.dispatch,
    send: (text) => void sent.push(JSON.parse(text)),
    input: { pause: () => void reading.push('pause'), resume: () => void reading.push('resume') },
    outputFull: () => output.isFull,
  });
  return { channel, began, sent, reading, output };
}

describe('a channel to a server without middleware', () => {
  test('responds to a synchronous handler before it returns from the message', () => {
    const { channel, sent } = channelTo();
    channel.receive(callMessage(1, 'now'));
    expect(sent.map(({ id }) => id)).toEqual([1]);
    expect(channel.openCalls()).toBe(0);
  });

  test('responds to an asynchronous handler when its promise has settled', async () => {
    const { channel, sent } = channelTo();
    channel.receive(callMessage(1, 'later'));
    expect(channel.openCalls()).toBe(1);
    await channel.settled();
    expect(sent[0]?.result?.content[0]?.text).toBe('later');
  });

  test('responds with an error to each call that fails before its handler has a promise', async () => {
    const { channel, sent } = channelTo();
    channel.receive(callMessage(1, 'refuse'));
    channel.receive(callMessage(2, 'now', { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' }));
    await channel.settled();
    expect(sent.map(({ id, error }) => [id, typeof error?.code])).toEqual(
      expect.arrayContaining([1, 2].map((id) => [id, 'number'])),
    );
    expect(sent).toHaveLength(2);
  });

  test('sends the notification of a synchronous handler before its response', async () => {
    const { channel, sent } = channelTo();
    channel.receive(callMessage(1, 'progress', { progressToken: 'p' }));
    expect(sent.map(({ method }) => method)).toEqual(['notifications/progress']);
    await channel.settled();
    expect(sent.map(({ id }) => id)).toEqual([undefined, 1]);
  });
});

const pass: Middleware = (call, next) => next(call);

describe.each([
  ['without middleware', {}],
  ['with middleware', { use: [pass] }],
])('a channel to a server %s', (_what, options) => {
  test('handles messages that waited for the peer in their order, each once, and then reads on', async () => {
    const { channel, began, sent, reading, output } = channelTo(options);
    output.isFull = true;
    const ids = Array.from({ length: 200 }, (_, id) => id);
    for (const id of ids) channel.receive(callMessage(id, 'now'));
    expect(began.length).toBeLessThan(ids.length);
    output.isFull = false;
    channel.recheck();
    await until('all calls have their responses', () => sent.length === ids.length);
    expect(began).toEqual(ids);
    expect(sent.map(({ id }) => id)).toEqual(ids);
    await until('reading has resumed', () => reading.at(-1) === 'resume');
    expect(reading.filter((step) => step === 'resume')).toHaveLength(
      reading.filter((step) => step === 'pause').length,
    );
  });
});
