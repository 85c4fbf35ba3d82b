import { createServer, McpError, tool } from 'fullmcp';
import { type AuthorizedRequest, type ChallengeReply, type ClientAuth, connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that accepts one token, which changes whenever a test wants it to. */
async function startServer() {
  const state = { token: 'token-1', refused: 0 };
  const server = createServer({
    name: 'guarded',
    version: '1.0.0',
    tools: { hello: tool({ run: () => 'hello' }) },
  });
  const running = await serve(server, {
    port: 0,

    auth(request) {
      if (request.headers.authorization === `Bearer ${state.token}`) return { subject: 'user' };
      state.refused++;
      throw new McpError('unauthorized', 'Log in first.');
    },
  });
  closing.push(() => running.close());
  return Object.assign(state, { url: running.url });
}

interface Asked {
  readonly kind: 'headers' | 'challenge';
  readonly method: string;
  readonly mayAsk: boolean;
}

/** An `auth` that knows the right token only after a challenge. */
function learner(next: () => string, log: Asked[] = []): ClientAuth & { readonly log: Asked[] } {
  let headers: Record<string, string> = {};
  return {
    log,
    headersFor({ method, mayAsk }: AuthorizedRequest) {
      log.push({ kind: 'headers', method, mayAsk });
      return headers;
    },
    async onChallenge(_reply: ChallengeReply, { method, mayAsk }: AuthorizedRequest) {
      log.push({ kind: 'challenge', method, mayAsk });
      headers = { authorization: `Bearer ${next()}` };
      return 'retry';
    },
  };
}

describe('an object as `auth`', () => {
  it.each(['2026-07-28', '2025-11-25'] as const)(
    'answers a 401 and the request is sent again, with revision %s',
    async (revision) => {
      const server = await startServer();
      const auth = learner(() => server.token);
      const client = await connect(server.url, { auth, revision });
      closing.push(() => client.close());
      expect((await client.callTool('hello')).text).toBe('hello');
      expect(server.refused).toBe(1);

      server.token = 'token-2';
      expect((await client.callTool('hello')).text).toBe('hello');
      expect(auth.log.filter(({ kind }) => kind === 'challenge').length).toBeGreaterThanOrEqual(2);
    },
  );

  it('is told that the stream and the end of a session may not ask the user', async () => {
    const server = await startServer();
    const auth = learner(() => server.token);
    const client = await connect(server.url, { auth, revision: '2025-11-25' });
    await until('the stream was opened', () => auth.log.some(({ method }) => method === 'GET'));
    await client.close();
    const kinds = new Set(auth.log.map(({ method, mayAsk }) => `${method} ${mayAsk}`));
    expect(kinds).toContain('GET false');
    expect(kinds).toContain('DELETE false');
    expect(kinds).toContain('POST true');
  });

  it('answers the 401 to the opening request of a WebSocket', async () => {
    const server = await startServer();
    const auth = learner(() => server.token);
    const client = await connect(server.url.replace(/^http/, 'ws'), { auth });
    closing.push(() => client.close());
    expect((await client.callTool('hello')).text).toBe('hello');
    expect(auth.log.map(({ kind }) => kind)).toEqual(['headers', 'challenge', 'headers']);
  });

  it('fails with `unauthorized` if it refuses to answer, over HTTP and over a WebSocket', async () => {
    const server = await startServer();
    const auth: ClientAuth = { headersFor: () => ({}), onChallenge: async () => 'fail' };
    await expect(connect(server.url, { auth })).rejects.toMatchObject({ code: 'unauthorized' });
    const socket = connect(server.url.replace(/^http/, 'ws'), { auth, reconnect: false });
    await expect(socket).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('is asked a bounded number of times for one request', async () => {
    const server = await startServer();
    const auth = learner(() => 'never right');
    await expect(connect(server.url, { auth })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(server.refused).toBe(6);
  });

  it('fails the call with its own `McpError`, and hides any other error', async () => {
    const server = await startServer();
    const own = new McpError('unauthorized', 'The user closed the window.');
    const auth = (error: Error): ClientAuth => ({
      headersFor: () => ({}),
      onChallenge: () => Promise.reject(error),
    });
    await expect(connect(server.url, { auth: auth(own) })).rejects.toThrow('The user closed the window.');
    await expect(connect(server.url, { auth: auth(new Error('secret')) })).rejects.toThrow(
      'The object given as `auth` failed',
    );
  });

  it('does not run into the timeout of connecting or of a call while the user logs in', async () => {
    const server = await startServer();
    const slow = learner(() => server.token);
    const auth: ClientAuth = {
      headersFor: slow.headersFor,
      onChallenge: (reply, request) =>
        request.pauseTimeouts(async () => {
          await new Promise((resolve) => setTimeout(resolve, 600));
          return slow.onChallenge(reply, request);
        }),
    };
    const client = await connect(server.url, { auth, connectTimeoutMs: 400, timeoutMs: 400 });
    closing.push(() => client.close());
    server.token = 'token-2';
    expect((await client.callTool('hello')).text).toBe('hello');
  });

  it('sends each request with its own headers when many are sent at once', async () => {
    const seen: string[] = [];
    const running = await serve(
      createServer({ name: 'proofs', version: '1.0.0', tools: { hello: tool({ run: () => 'hello' }) } }),
      {
        port: 0,
        auth(request) {
          seen.push(String(request.headers['dpop']));
          return { subject: 'user' };
        },
      },
    );
    closing.push(() => running.close());
    let proofs = 0;
    const auth: ClientAuth = {
      async headersFor() {
        const proof = ++proofs;
        await new Promise((resolve) => setTimeout(resolve, proof % 3));
        return { dpop: `proof-${proof}` };
      },
      onChallenge: async () => 'fail',
    };
    const client = await connect(running.url, { auth, revision: '2026-07-28' });
    closing.push(() => client.close());
    await Promise.all(Array.from({ length: 50 }, () => client.callTool('hello')));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(51);
  });
});
