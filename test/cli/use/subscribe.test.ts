import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { Told } from '../project/told.js';
import { demoServer } from '../support/demo.js';
import { fullmcp, type RunOptions } from '../support/run-cli.js';

const demo = demoServer();

/** Adds a note as soon as the subscription is there. */
function addNote(): RunOptions {
  let isAdded = false;
  return {
    onStderr: (written) => {
      if (isAdded || !written.includes('Subscribed to ')) return;
      isAdded = true;
      void fullmcp(['call', demo.url, 'add_note', 'text=milk']);
    },
  };
}

describe('fullmcp subscribe', () => {
  it('prints a line for each change and ends after --count', async () => {
    const words = ['subscribe', demo.url, 'notes://all', '--count', '1'];
    const { exit, stdout, stderr } = await fullmcp(words, addNote());
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'changed: notes://all\n' });
    expect(stderr).toBe('Subscribed to resources, notes://all. Ctrl+C ends it.\n');
  });

  it('prints one JSON object per line with --json', async () => {
    const words = ['subscribe', demo.url, 'notes://all', '--count', '1', '--json'];
    const { stdout } = await fullmcp(words, addNote());
    expect(stdout).toBe('{"ok":true,"kind":"resource","uri":"notes://all"}\n');
  });

  it('says that a server over HTTP is gone, and that it is there again', async () => {
    const start = async (port: number) => {
      const tools = { a: tool({ run: () => 'a' }) };
      return serve(createServer({ name: 'gone', version: '1.0.0', changes: ['tools'], tools }), { port });
    };
    let running = await start(0);
    const port = Number(new URL(running.url).port);
    const stop = new AbortController();
    const told = new Told();
    const ended = fullmcp(['subscribe', running.url], { signal: stop.signal, onStderr: told.set });
    await told.next(/Subscribed to tools/);
    await running.close();
    await told.next(/The connection was lost\. Reconnecting…\n/);
    running = await start(port);
    await told.next(/Connected again\. Changes in between may be missed\.\n/);
    stop.abort();
    const { stdout, stderr } = await ended;
    expect(stdout).toBe('changed: tools\n');
    expect(stderr.match(/lost/g)).toHaveLength(1);
    await running.close();
  });

  it('ends with 130 at Ctrl+C', async () => {
    const stop = new AbortController();
    const onStderr = (written: string): void => {
      if (written.includes('Subscribed')) stop.abort();
    };
    const { exit, stdout } = await fullmcp(['subscribe', demo.url], { signal: stop.signal, onStderr });
    expect({ exit, stdout }).toEqual({ exit: 130, stdout: '' });
  });

  it('fails at once if the server announces nothing', async () => {
    const running = await serve(
      createServer({ name: 'still', version: '1.0.0', tools: { a: tool({ run: () => 'a' }) } }),
      {
        port: 0,
      },
    );
    try {
      expect(await fullmcp(['subscribe', running.url])).toMatchObject({ exit: 1, stdout: '' });
    } finally {
      await running.close();
    }
    expect((await fullmcp(['subscribe', demo.url, '--count', '0'])).exit).toBe(2);
  });
});
