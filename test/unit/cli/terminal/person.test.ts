import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { PersonLines } from '../../../../src/cli/terminal/person.js';

const CTRL_D = '\u0004';
const never = new AbortController().signal;

function atKeyboard(): { lines: PersonLines; press: (keys: string) => void } {
  const input = new PassThrough();
  const lines = new PersonLines({
    input,
    output: new PassThrough().resume(),
    isPresent: true,
    interrupt: () => undefined,
    onInterrupt: () => () => undefined,
    openPage: () => Promise.resolve(),
  });
  return { lines, press: (keys) => void input.write(keys) };
}

test('Ctrl+D ends the line that is asked for', async () => {
  const { lines, press } = atKeyboard();
  const line = lines.line('> ', never);
  press(CTRL_D);
  expect(await line).toBeUndefined();
});

test('Ctrl+D that was pasted with the line before ends the next one, and only that', async () => {
  const { lines, press } = atKeyboard();
  const first = lines.line('> ', never);
  press(`Ada\n${CTRL_D}`);
  expect(await first).toBe('Ada');
  expect(await lines.line('> ', never)).toBeUndefined();
  const third = lines.line('> ', never);
  press('Grace\n');
  expect(await third).toBe('Grace');
});

test('the end of a question is not Ctrl+D for the next one', async () => {
  const { lines, press } = atKeyboard();
  const first = lines.line('> ', never);
  press('Ada\n');
  expect(await first).toBe('Ada');
  lines.close();
  const second = lines.line('> ', never);
  press('Grace\n');
  expect(await second).toBe('Grace');
});
