import { describe, expect, test } from 'vitest';
import { connect } from '../../../../src/client.js';

describe('connecting to a process', () => {
  const node = process.execPath;

  test('does not pass on environment variables that are undefined', async () => {
    const dying = connect({
      command: node,
      args: ['-e', 'console.error(process.env.A, "TOKEN" in process.env); process.exit(3)'],
      env: { A: 'set', TOKEN: undefined },
    });
    await expect(dying).rejects.toMatchObject({ message: expect.stringContaining('set false') });
  });

  test('that hangs times out with its standard error in the message', async () => {
    const hanging = connect(
      {
        command: node,
        args: ['-e', 'console.error("waiting for the database"); setInterval(() => {}, 1000)'],
      },
      { connectTimeoutMs: 1500 },
    );
    await expect(hanging).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('waiting for the database'),
    });
  });

  test('that only defines a server fails with a hint to serve it', async () => {
    await expect(connect(new URL('../fixtures/only-defines.mjs', import.meta.url))).rejects.toMatchObject({
      message: expect.stringMatching(/only-defines\.mjs[\s\S]*serveStdio\(server\)/),
    });
  });
});
