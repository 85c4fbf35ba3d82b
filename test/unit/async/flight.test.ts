import { expect, test } from 'vitest';
import { Flight, Flights } from '../../../src/async/flight.js';
import { failureOf } from '../../support/failure.js';

function work() {
  let runs = 0;
  let settle!: { resolve: (value: string) => void; reject: (error: Error) => void };
  let signal!: AbortSignal;
  const flight = new Flight<string>((given) => {
    runs++;
    signal = given;
    return new Promise((resolve, reject) => {
      settle = { resolve, reject };
      given.addEventListener('abort', () => reject(given.reason));
    });
  });
  return { flight, settle, signal, runs: () => runs };
}

const forever = new AbortController().signal;

test('a flight runs its work once for everybody who joins', async () => {
  const { flight, settle, runs } = work();
  const joined = Promise.all(Array.from({ length: 20 }, () => flight.join(forever)));
  settle.resolve('tokens');
  expect(new Set(await joined)).toEqual(new Set(['tokens']));
  expect(await flight.join(forever)).toBe('tokens');
  expect(runs()).toBe(1);
});

test('a flight gives its error to everybody, and none of them is unhandled', async () => {
  const { flight, settle } = work();
  const joined = [flight.join(forever), flight.join(forever)];
  settle.reject(new Error('refused'));
  for (const result of joined) await expect(result).rejects.toThrow('refused');
  await flight.ended;
});

test('a flight goes on while one caller waits, and ends when the last one has left', async () => {
  const { flight, signal } = work();
  const [first, second] = [new AbortController(), new AbortController()];
  const joined = [first, second].map((caller) => failureOf(Error, flight.join(caller.signal)));
  first.abort(new Error('first left'));
  expect((await joined[0])?.message).toBe('first left');
  expect(signal.aborted).toBe(false);
  second.abort(new Error('second left'));
  expect((await joined[1])?.message).toBe('second left');
  expect(signal.aborted).toBe(true);
  expect(flight.isAbandoned).toBe(true);
});

test('a caller whose signal has aborted already does not join', async () => {
  const { flight, signal } = work();
  await expect(flight.join(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  expect(signal.aborted).toBe(false);
});

test('a flight that is cancelled ends for everybody, and one that is over cannot be cancelled', async () => {
  const { flight, signal } = work();
  const joined = [flight.join(forever), flight.join(forever)];
  flight.cancel(new Error('logged out'));
  for (const result of joined) await expect(result).rejects.toThrow('logged out');
  expect(signal.aborted).toBe(true);

  const over = work();
  over.settle.resolve('tokens');
  await over.flight.ended;
  over.flight.cancel(new Error('too late'));
  expect(over.signal.aborted).toBe(false);
});

test('callers with the same key share a flight while it is under way, and the next one starts another', async () => {
  const flights = new Flights<string, number>();
  const settles: ((value: number) => void)[] = [];
  const start = (key: string) =>
    flights.start(key, () => new Promise<number>((resolve) => settles.push(resolve)));
  const one = start('one');
  const other = start('other');
  expect(flights.get('one')).toBe(one);
  expect([...flights.keys()]).toEqual(['one', 'other']);
  const joined = Promise.all([one.join(), flights.get('one')?.join(forever)]);
  settles[0]?.(7);
  expect(await joined).toEqual([7, 7]);
  await one.ended;
  expect(flights.get('one')).toBeUndefined();
  expect(flights.get('other')).toBe(other);
  expect(flights.size).toBe(1);
});

test('a flight that everybody has left is not joined, and its end does not remove the flight in its place', async () => {
  const flights = new Flights<string, string>();
  const left = new AbortController();
  let end!: (value: string) => void;
  const first = flights.start('one', () => new Promise<string>((resolve) => (end = resolve)));
  const leaving = failureOf(Error, first.join(left.signal));
  left.abort(new Error('gone'));
  await leaving;
  expect(flights.get('one')).toBeUndefined();
  const second = flights.start('one', () => new Promise<string>(() => undefined));
  end('late');
  await first.ended;
  expect(flights.get('one')).toBe(second);
});

test('a caller without a signal never leaves a flight', async () => {
  const { flight, settle, signal } = work();
  const staying = flight.join();
  const left = new AbortController();
  const leaving = failureOf(Error, flight.join(left.signal));
  left.abort(new Error('gone'));
  await leaving;
  expect(signal.aborted).toBe(false);
  settle.resolve('tokens');
  expect(await staying).toBe('tokens');
});
