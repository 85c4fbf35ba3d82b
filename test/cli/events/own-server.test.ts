import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderWith, serving } from '../project/support.js';
import { Told } from '../project/told.js';
import { fullmcp } from '../support/run-cli.js';

// The file of an author: started for a command, or run by `fullmcp dev`.

const desk = `
import { createServer, event } from 'fullmcp';
import { z } from 'zod';
console.log('a line that is not part of the protocol', process.env.FULLMCP_OPERATOR);
export default createServer({
  name: 'desk',
  version: '1.0.0',
  events: { ticket_changed: event({ payload: z.object({ id: z.string() }) }) },
  webhooks: {},
});
`;

describe('the events of a server in a file', () => {
  test('are emitted in a process that ends with the command', async () => {
    const file = join(await folderWith({ 'desk.mjs': desk }), 'desk.mjs');
    const sent = await fullmcp(['events', 'send', file, 'ticket_changed', 'id=1', '--id', 'T-1', '--json']);
    expect(sent.json()).toEqual({ ok: true, eventId: 'T-1', isNew: true });
    expect(sent.stderr).toContain('name the address of `fullmcp dev` instead');
    const { exit, stderr } = await fullmcp(['events', 'deliveries', file]);
    expect(exit).toBe(0);
    expect(stderr).toContain('No webhook is subscribed.\n');
  });

  test('have no operator if the file serves by itself', async () => {
    const text = `${desk.replace('export default', 'const server =')}
import { serveStdio } from 'fullmcp/stdio';
serveStdio(server);
`;
    const file = join(
      await folderWith({ 'own.mjs': text.replace('console.log', 'console.error') }),
      'own.mjs',
    );
    expect(await fullmcp(['events', 'send', file, 'ticket_changed', 'id=1'])).toMatchObject({
      ...{ exit: 1, stdout: '' },
      stderr: expect.stringContaining('serves by itself'),
    });
  });

  test('are emitted in the process that fullmcp dev runs, also after a change of the code', async () => {
    const folder = await folderWith({ 'desk.mjs': desk });
    const file = join(folder, 'desk.mjs');
    const { url } = await serving(['dev', file, '--port', '0', '--no-inspector']);
    const send = async (id: string) =>
      (await fullmcp(['events', 'send', url, 'ticket_changed', `id=${id}`, '--id', 'T-1', '--json'])).json();
    expect(await send('1')).toEqual({ ok: true, eventId: 'T-1', isNew: true });
    // The same process has the event already.
    expect(await send('1')).toEqual({ ok: true, eventId: 'T-1', isNew: false });
    await writeFile(file, desk.replace('ticket_changed', 'ticket_closed'));
    await expect
      .poll(async () => (await fullmcp(['events', 'send', url, 'ticket_closed', 'id=1'])).exit)
      .toBe(0);
  });

  test('are followed through fullmcp dev across a change of the code', async () => {
    const file = join(await folderWith({ 'desk.mjs': desk }), 'desk.mjs');
    const { url } = await serving(['dev', file, '--port', '0', '--no-inspector']);
    const told = new Told();
    const printed = new Told();
    const stop = new AbortController();
    const ended = fullmcp(['events', 'listen', url, 'ticket_changed'], {
      signal: stop.signal,
      onStderr: told.set,
      onStdout: printed.set,
    });
    await told.next(/Following ticket_changed/);
    const send = (id: string) => fullmcp(['events', 'send', url, 'ticket_changed', `id=${id}`]);
    await send('before');
    await printed.next(/"id":"before"/);
    // The new version has its own store in memory: an event is told when the stream is open there.
    await writeFile(file, desk.replace('events: {', 'events: { added: event({ payload: z.object({}) }),'));
    await expect.poll(async () => (await fullmcp(['events', 'list', url])).stdout).toContain('added');
    await expect
      .poll(async () => {
        await send('after');
        return printed.text;
      })
      .toContain('"id":"after"');
    stop.abort();
    expect((await ended).exit).toBe(130);
  });
});
