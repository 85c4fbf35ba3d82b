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

it('the place that is shown with its code is not said before, nor are the files that asked for a module', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-frame-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'server.ts');
  await writeFile(file, "import 'zodd';\nconst a = ;\n");
  const failure = (stack: string): readonly string[] => {
    const error = new Error(stack);
    error.stack = stack;
    return loadFailure(file, error).message.split('\n');
  };
  const parsed = failure(
    `Error: ParseError: Unexpected token\n ${file}:2:11\n    at parse (/x/node_modules/jiti.js:1:1)`,
  );
  expect(parsed.slice(0, 2)).toEqual([`${file} could not be loaded.`, 'Error: ParseError: Unexpected token']);
  expect(parsed[2]).toMatch(/server\.ts:2:11$/);
  expect(parsed).toContain('> 2 | const a = ;');
  const missing = failure(
    `Error: Cannot find module 'zodd'\nRequire stack:\n- ${file}\n    at Object.<anonymous> (${file}:1:1)`,
  );
  expect(missing[1]).toBe("Error: Cannot find module 'zodd'");
  expect(missing[2]).toMatch(/server\.ts:1:1$/);
  const elsewhere = failure('Error: gone\n /nowhere/else.ts:9:9\n    at x (/x/node_modules/y.js:1:1)');
  expect(elsewhere).toContain(' /nowhere/else.ts:9:9');
});
