import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadFailure } from '../../../src/cli/commands/project/serving/load-failure.js';

it('the mark below a line of code is left out if it would point into a word, because a loader has changed the line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-frame-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'server.ts');
  await writeFile(file, 'const name = z.strng();\n');
  const failure = (column: number): string => {
    const error = new TypeError('z.strng is not a function');
    error.stack = `${error}\n    at Object.<anonymous> (${file}:1:${column})`;
    return loadFailure(file, error).message;
  };
  expect(failure(16)).toContain(`> 1 | const name = z.strng();\n    | ${' '.repeat(15)}^`);
  expect(failure(18)).toContain('> 1 | const name = z.strng();');
  expect(failure(18)).not.toContain('^');
  expect(failure(16)).toContain('server.ts:1:16\n');
  expect(failure(18)).toContain('server.ts:1\n');
});
