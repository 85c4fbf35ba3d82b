import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { modernMessage } from '../../../../support/http/modern.js';
import { soon, until } from '../../../../support/until.js';
import { startStdio, stopStdioChildren } from '../../../../support/wires/stdio-child.js';

// However the client disconnects, the process exits, even with a timer, a listening socket and a connection open.

afterEach(stopStdioChildren);

const echo = (id: number): object =>
  modernMessage('tools/call', { name: 'echo', arguments: { text: 'hi' } }, { id });
const call = (name: string, id = 7, meta = {}): object => modernMessage('tools/call', { name }, { id, meta });

async function within(ms: number, what: string, ended: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await soon(what, ended, ms);
  return performance.now() - from;
}

/** A server whose cleanup may take long: on a busy machine, the usual half a second may pass before it ends. */
const patient = { env: { OPTIONS: '{"closeMs":10000}' } };

describe('the process exits with code 0, after its cleanup,', () => {
  test('at the end of the input', async () => {
    const server = startStdio('server.mjs', patient);
    await server.ready();
    await server.ask(echo(1));
    server.process.stdin.end();
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.notes()).toEqual(['opened', 'closing', 'closed']);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('on %s', async (signal) => {
    const server = startStdio('server.mjs', patient);
    await server.ready();
    await server.ask(echo(1));
    server.process.kill(signal);
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.notes()).toEqual(['opened', 'closing', 'closed']);
  });

  test('on a signal that arrives while it is closing', async () => {
    const server = startStdio('server.mjs', patient);
    await server.ready();
    await server.ask(call('slow'));
    server.send(call('hang', 8));
    await until('the call hangs', () => server.notes().includes('hanging'));
    server.process.stdin.end();
    server.process.kill('SIGTERM');
    server.process.kill('SIGTERM');
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.notes().at(-1)).toBe('closed');
  });

  test('when the client closes its end of the output while a tool sends progress', async () => {
    const server = startStdio('server.mjs', patient);
    await server.ready();
    server.send(call('flood', 7, { progressToken: 'p' }));
    await once(server.process.stdout, 'data');
    server.process.stdout.destroy();
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.notes()).toEqual(expect.arrayContaining(['flood aborted', 'closed']));
  });

  test('when the client closes both ends, and a tool writes where nobody reads', async () => {
    const server = startStdio('server.mjs', patient);
    await server.ready();
    server.send(call('flood', 7, { progressToken: 'p' }));
    await once(server.process.stdout, 'data');
    server.process.stderr.destroy();
    server.process.stdout.destroy();
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.notes()).toEqual(expect.arrayContaining(['flood aborted', 'closed']));
  });
});

describe('the process exits within its time limit despite', () => {
  test.each(['hangs', 'fails'])('a cleanup that %s', async (CLEANUP) => {
    const server = startStdio('server.mjs', { env: { CLEANUP } });
    await server.ready();
    await server.ask(echo(1));
    server.process.stdin.end();
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.notes()).toEqual(['opened', 'closing']);
  });

  test('a call that ignores its signal, and a cleanup that hangs', async () => {
    const server = startStdio('server.mjs', { env: { CLEANUP: 'hangs' } });
    await server.ready();
    server.send(call('deaf'));
    await until('the call has begun', () => server.notes().includes('deaf'));
    server.process.stdin.end();
    await within(15_000, 'The end', server.exited);
    expect((await server.exited).code).toBe(0);
  });

  test('a client that reads nothing of what is still to be written', async () => {
    const server = startStdio();
    await server.ready();
    server.send(call('flood', 7, { progressToken: 'p' }));
    await until('the pipe is full', () => server.process.stdout.readableLength > 0);
    server.process.kill('SIGTERM');
    await within(15_000, 'The end', server.exited);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});

describe('a parent that is killed with SIGKILL', () => {
  test.each(['pipe', 'inherit'])('takes the server with it, after the cleanup (%s)', async (mode) => {
    const first = JSON.stringify(echo(1));
    const input = mode === 'inherit' ? 3 : 0;
    const parent = startStdio('parent.mjs', { args: [mode], env: { FIRST: first }, input });
    await parent.ready();
    if (mode === 'inherit') expect(await parent.ask(echo(1))).toMatchObject({ id: 1 });
    await until('the lifespan has begun', () => parent.notes().includes('opened'));
    // The server holds the other end of this pipe: it closes when the last holder is gone.
    const gone = once(parent.process.stderr, 'close');
    parent.process.kill('SIGKILL');
    await within(15_000, 'The end of the server', gone);
    expect(parent.notes()).toEqual(['opened', 'closing', 'closed']);
  });

  test('takes the server with it even while a call ignores its signal and the cleanup hangs', async () => {
    const parent = startStdio('parent.mjs', { args: ['inherit'], env: { CLEANUP: 'hangs' }, input: 3 });
    await parent.ready();
    parent.send(call('deaf'));
    await until('the call has begun', () => parent.notes().includes('deaf'));
    const gone = once(parent.process.stderr, 'close');
    parent.process.kill('SIGKILL');
    await within(15_000, 'The end of the server', gone);
  });
});
