import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, describe, expect, it } from 'vitest';
import { modern, modernExchange } from '../../support/http/modern.js';
import { signal } from '../../support/signal.js';
import { soon } from '../../support/until.js';

const fixture = fileURLToPath(new URL('../fixtures/paying-server.mjs', import.meta.url));
const children = new Set<ChildProcess>();
const folders: string[] = [];
const KEY = 'fullmcp/idempotencyKey';

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function start(folder: string, ...args: string[]) {
  const child = spawn(process.execPath, [fixture, folder, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return { child, url, end };
}

const pay = (url: string, name: string, key = 'k1') =>
  modern(url, 'tools/call', { name, arguments: {} }, { meta: { [KEY]: key } });

describe('a call with an idempotency key, repeated after its server was killed between the payment and the outcome,', () => {
  async function repeatAfterKill(name: string) {
    const folder = mkdtempSync(join(tmpdir(), 'fullmcp-paying-'));
    folders.push(folder);
    const first = await start(folder, 'dies');
    const exit = once(first.child, 'exit');
    await expect(pay(first.url, name)).rejects.toThrow();
    await exit;
    const second = await start(folder);
    const reply = JSON.parse((await pay(second.url, name)).text);
    const again = JSON.parse((await pay(second.url, name)).text);
    await second.end();
    const effects = readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n');
    return { reply, again, effects };
  }

  it('does not pay again, and fails because the outcome is unknown', async () => {
    const { reply, again, effects } = await repeatAfterKill('pay');
    expect(effects).toHaveLength(1);
    expect(reply.error).toMatchObject({ data: { reason: 'unknown_outcome' } });
    expect(reply.error.message).toContain('Its outcome is unknown.');
    expect(again.error).toEqual(reply.error);
  });

  it('runs the tool again with the same step keys if the tool is declared idempotent', async () => {
    const { reply, again, effects } = await repeatAfterKill('safe');
    expect(effects).toHaveLength(2);
    expect(effects[0]).toBe(effects[1]);
    expect(reply.result.content).toEqual([{ type: 'text', text: 'paid' }]);
    expect(again.result.content).toEqual(reply.result.content);
  });
});

describe('a lost connection', () => {
  async function startPaying() {
    const begun = signal();
    const gone = signal();
    const finish = signal();
    const abortReasons: unknown[] = [];
    let payments = 0;
    const server = createServer({
      name: 'paying',
      version: '1.0.0',
      logger: () => undefined,
      use: [
        (call, next) => {
          call.signal.addEventListener('abort', () => gone.give(), { once: true });
          return next(call);
        },
      ],
      tools: {
        pay: tool({
          idempotency: true,
          run: async (_, { signal: ends }) => {
            const stopped = new Promise((_resolve, reject) =>
              ends.addEventListener('abort', () => reject(ends.reason), { once: true }),
            );
            stopped.catch((reason) => abortReasons.push(reason));
            begun.give();
            await Promise.race([finish.promise, stopped]);
            return `paid ${++payments}`;
          },
        }),
      },
    });
    const serving = await serve(server, { port: 0, signals: false, drainMs: 50 });
    return { serving, begun, gone, finish, abortReasons, payments: () => payments };
  }

  /** Sends a call and breaks the connection once the handler runs. */
  async function sendAndBreak(url: string, begun: Promise<void>, meta: Record<string, unknown>) {
    const { headers, body } = modernExchange('tools/call', { name: 'pay', arguments: {} }, { meta });
    const req = request(url, { method: 'POST', headers: headers as Record<string, string>, agent: false });
    req.on('error', () => undefined);
    req.end(body);
    await begun;
    const closed = new Promise((resolve) => req.on('close', resolve));
    req.destroy();
    await closed;
  }

  it('does not abort a call with a key, and the retry gets its outcome', async () => {
    const { serving, begun, gone, finish, abortReasons, payments } = await startPaying();
    await sendAndBreak(serving.url, begun.promise, { [KEY]: 'k1' });
    await gone.promise;
    const retry = pay(serving.url, 'pay');
    finish.give();
    expect(JSON.parse((await retry).text).result.content).toEqual([{ type: 'text', text: 'paid 1' }]);
    expect(payments()).toBe(1);
    expect(abortReasons).toEqual([]);
    await serving.close();
  });

  it('aborts a call without a key', async () => {
    const { serving, begun, abortReasons } = await startPaying();
    await sendAndBreak(serving.url, begun.promise, {});
    await expect.poll(() => abortReasons.length).toBe(1);
    await serving.close();
  });

  it('leaves a call with a key running only until the server closes', async () => {
    const { serving, begun, gone, abortReasons, payments } = await startPaying();
    await sendAndBreak(serving.url, begun.promise, { [KEY]: 'k1' });
    await gone.promise;
    await soon('the end of the server', serving.close());
    expect(abortReasons).toMatchObject([
      { code: 'connection_closed', message: 'The server is shutting down' },
    ]);
    expect(payments()).toBe(0);
  });
});
