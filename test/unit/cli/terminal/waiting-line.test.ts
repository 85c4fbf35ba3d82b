import { expect, test, vi } from 'vitest';
import { Output } from '../../../../src/cli/terminal/output.js';

function terminal(isTTY: boolean, columns = 80): { out: Output; written: () => string } {
  let written = '';
  const sink = { write: (text: string | Uint8Array) => (written += String(text)), isTTY, columns };
  const out = new Output({ stdout: sink, stderr: sink, env: { NO_COLOR: '1' }, isJson: false });
  return { out, written: () => written };
}

const ERASED = '\r\u001b[2K';

test('waiting is visible after 400 ms, counts seconds, and is erased by the answer', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { out, written } = terminal(true);
  out.wait('starting zoo.js');
  vi.advanceTimersByTime(399);
  expect(written()).toBe('');
  vi.advanceTimersByTime(1);
  expect(written()).toBe(`${ERASED}starting zoo.js …`);
  vi.advanceTimersByTime(2600);
  expect(written().endsWith(`${ERASED}starting zoo.js … 3 s`)).toBe(true);
  out.value('42');
  expect(written().endsWith(`${ERASED}starting zoo.js … 3 s${ERASED}42\n`)).toBe(true);
  vi.advanceTimersByTime(1000);
  expect(written().endsWith(`42\n${ERASED}starting zoo.js … 4 s`)).toBe(true);
  out.wait();
  expect(written().endsWith(`4 s${ERASED}`)).toBe(true);
  const end = written();
  vi.advanceTimersByTime(10_000);
  expect(written()).toBe(end);
  vi.useRealTimers();
});

test('nothing is said in a pipe, and an answer that comes at once is written alone', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const pipe = terminal(false);
  pipe.out.wait('starting zoo.js');
  vi.advanceTimersByTime(10_000);
  expect(pipe.written()).toBe('');
  const quick = terminal(true);
  quick.out.wait('starting zoo.js');
  vi.advanceTimersByTime(100);
  quick.out.wait();
  quick.out.value('42');
  vi.advanceTimersByTime(10_000);
  expect(quick.written()).toBe('42\n');
  vi.useRealTimers();
});

test('the line is as wide as the terminal, shows what a server hides, and leaves progress and questions alone', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { out, written } = terminal(true, 20);
  out.wait('calling \u001b[2J a tool with a long name');
  vi.advanceTimersByTime(500);
  expect(written()).toBe(`${ERASED}calling \\u{1b}[2J …`);
  out.redraw('1 of 2');
  const drawn = written();
  vi.advanceTimersByTime(5000);
  expect(written()).toBe(drawn);
  out.redraw('');
  await out.quietly(async () => {
    const asked = written();
    vi.advanceTimersByTime(5000);
    expect(written()).toBe(asked);
  });
  vi.advanceTimersByTime(1000);
  expect(written().endsWith('…')).toBe(true);
  out.wait();
  vi.useRealTimers();
});

test('nothing is drawn over what a person types: progress is left out, and what a server says is written afterwards', async () => {
  const { out, written } = terminal(true);
  out.redraw('1 of 3');
  await out.quietly(async () => {
    const asked = written();
    out.redraw('2 of 3');
    out.aside('warning: the oven is cold');
    await out.quietly(async () => out.aside('info: it is warm'));
    expect(written()).toBe(asked);
    out.note('expected a number');
  });
  expect(written().endsWith('expected a number\nwarning: the oven is cold\ninfo: it is warm\n')).toBe(true);
  out.redraw('3 of 3');
  expect(written().endsWith(`${ERASED}3 of 3`)).toBe(true);
  out.aside('info: done');
  expect(written().endsWith(`${ERASED}info: done\n`)).toBe(true);
});
