import { afterEach, expect, it, vi } from 'vitest';
import { FanOut } from '../../../src/state/fan-out.js';
import { until } from '../../support/until.js';

interface Listener {
  readonly heard: (number | string)[];
}

const LISTENERS = 300;
const failures: unknown[] = [];

/** Every look at the clock finds that a lot of time has passed, so that a turn of the event loop serves as few listeners as possible. */
function slowClock(): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
}

function make(count: number): { fanOut: FanOut<Listener>; listeners: Listener[] } {
  const fanOut = new FanOut<Listener>((error) => failures.push(error));
  const listeners = Array.from({ length: count }, (): Listener => ({ heard: [] }));
  for (const listener of listeners) fanOut.add(listener);
  return { fanOut, listeners };
}

const say = (fanOut: FanOut<Listener>, word: number | string): void =>
  fanOut.deliver(({ heard }) => void heard.push(word));
const everybody = (listeners: readonly Listener[], words: number): boolean =>
  listeners.every(({ heard }) => heard.length >= words);

afterEach(() => {
  vi.restoreAllMocks();
  failures.length = 0;
});

it('a delivery that does not take long is made at once', () => {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const { fanOut, listeners } = make(LISTENERS);
  say(fanOut, 1);
  expect(everybody(listeners, 1)).toBe(true);
});

it('a long delivery leaves turns of the event loop to others, and deliveries stay in order', async () => {
  slowClock();
  const { fanOut, listeners } = make(LISTENERS);
  let turns = 0;
  const count = (): void => {
    turns++;
    if (!everybody(listeners, 2)) setImmediate(count);
  };
  say(fanOut, 1);
  say(fanOut, 2);
  expect(everybody(listeners, 1)).toBe(false);
  setImmediate(count);
  await until('everybody has heard both', () => everybody(listeners, 2));
  expect(turns).toBeGreaterThan(3);
  expect(listeners.every(({ heard }) => heard.join() === '1,2')).toBe(true);
});

it('a listener that is removed gets what waits for it, and one that is added gets what is not complete', async () => {
  slowClock();
  const { fanOut, listeners } = make(LISTENERS);
  say(fanOut, 1);
  const [first, last] = [listeners[0] as Listener, listeners.at(-1) as Listener];
  fanOut.remove(first);
  fanOut.remove(last);
  const late: Listener = { heard: [] };
  fanOut.add(late);
  say(fanOut, 2);
  await until('the late one has heard both', () => late.heard.length === 2);
  expect([first.heard, last.heard, late.heard]).toEqual([[1], [1], [1, 2]]);
});

it('a listener that fails is reported, and the others get the delivery', async () => {
  slowClock();
  const { fanOut, listeners } = make(LISTENERS);
  fanOut.deliver((listener) => {
    if (listener === listeners[0] || listener === listeners[200]) throw new Error('It fails');
    listener.heard.push(1);
  });
  await until(
    'the others have heard it',
    () => listeners.filter(({ heard }) => heard.length === 1).length === 298,
  );
  expect(failures).toHaveLength(2);
});

it('deliveries that come faster than they can be made do not pile up', () => {
  slowClock();
  const { fanOut, listeners } = make(LISTENERS);
  for (let number = 0; number < 2000; number++) say(fanOut, number);
  // The oldest ones were made at once, and at most 1,000 wait.
  expect(Math.min(...listeners.map(({ heard }) => heard.length))).toBeGreaterThanOrEqual(1000);
});

it('a listener may announce something itself, even more than can wait', async () => {
  slowClock();
  const { fanOut, listeners } = make(LISTENERS);
  fanOut.deliver((listener) => {
    if (listener === listeners[10]) for (let number = 0; number < 1100; number++) say(fanOut, number);
  });
  await until('everybody has heard all', () => everybody(listeners, 1100));
  const expected = Array.from({ length: 1100 }, (_, number) => number).join();
  expect(listeners.every(({ heard }) => heard.join() === expected)).toBe(true);
});
