import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectMath } from '../../support/examples/wire.js';

// A run as in a container: the first process of its namespace, not root, without capabilities, and nothing can be written.

const program = fileURLToPath(new URL('../../../build/examples/basic-server/http.js', import.meta.url));
const LIMITS = [
  'setpriv',
  '--reuid=65532',
  '--regid=65532',
  '--clear-groups',
  '--bounding-set=-all',
  '--no-new-privs',
];
const NAMESPACES = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];
const READ_ONLY = 'mount -o remount,bind,ro / && ! touch /written 2>/dev/null && exec "$@"';
// Root is needed, and a system that allows namespaces.
const canIsolate =
  spawnSync('unshare', [...NAMESPACES, 'sh', '-c', READ_ONLY, 'sh', ...LIMITS, 'true']).status === 0;

test.skipIf(!canIsolate)(
  'the first process of a container serves, and ends after SIGTERM with code 0',
  async () => {
    const child = spawn(
      'unshare',
      [...NAMESPACES, 'sh', '-c', READ_ONLY, 'sh', ...LIMITS, process.execPath, program],
      { env: { PORT: '0', MCP_HOST: '127.0.0.1' }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const node = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
      const status = readFileSync(`/proc/${node}/status`, 'utf8');
      expect([/^NSpid:.*\t(\d+)$/m.exec(status)?.[1], /^Uid:\t(\d+)/m.exec(status)?.[1]]).toEqual([
        '1',
        '65532',
      ]);
      await expectMath(line.replace('Listening on ', ''));
      const exited = once(child, 'exit');
      // A signal without a handler would do nothing here: the first process of a namespace has no default actions.
      process.kill(node, 'SIGTERM');
      expect(await exited).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  },
);
