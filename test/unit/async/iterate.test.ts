import { describe, expect, it, vi } from 'vitest';
import { isIterable, iterate } from '../../../src/async/iterate.js';
import { soon } from '../../support/until.js';

const never = (): (() => void) => () => undefined;

describe('reading an iterable', () => {
  it('gives each item with its index, and then the value that a generator returns', async () => {
    const seen: unknown[] = [];
    async function* source() {
      yield 'a';
      yield 'b';
      return 'end';
    }
    const value = await iterate(source(), { each: (...item) => void seen.push(item), onEnd: never });
    expect(seen).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(value).toBe('end');
  });

  it.each([
    ['it needs no more', () => false, undefined],
    ['it throws', () => Promise.reject(new Error('full')), 'full'],
    ['it throws at once', () => thrower('full'), 'full'],
  ])('closes the iterable, and waits for that, when %s', async (_, each, message) => {
    let isClosed = false;
    async function* source() {
      try {
        yield 1;
        yield 2;
      } finally {
        await new Promise(setImmediate);
        isClosed = true;
      }
    }
    const failure = await iterate(source(), { each, onEnd: never }).catch((error: Error) => error.message);
    expect(failure).toBe(message);
    expect(isClosed).toBe(true);
  });

  it('reports the error that ended the reading, and not one that the iterable throws when it is closed', async () => {
    function* source() {
      try {
        yield 1;
      } finally {
        thrower('second');
      }
    }
    const reading = iterate(source(), { each: () => thrower('first'), onEnd: never });
    await expect(reading).rejects.toThrow('first');
    await expect(iterate(source(), { each: () => false, onEnd: never })).rejects.toThrow('second');
  });

  it('does not close an iterator that has thrown or is done', async () => {
    const close = vi.fn();
    const failing = { next: () => Promise.reject(new Error('lost')), return: close };
    const source = { [Symbol.asyncIterator]: () => failing };
    await expect(iterate(source, { each: () => true, onEnd: never })).rejects.toThrow('lost');
    const empty = { [Symbol.iterator]: () => ({ next: () => ({ done: true, value: 7 }), return: close }) };
    expect(await iterate(empty as Iterable<unknown>, { each: () => true, onEnd: never })).toBe(7);
    expect(close).not.toHaveBeenCalled();
  });

  it('ends at once from outside, while it waits for an item that never comes, and closes the iterable', async () => {
    const close = vi.fn(() => new Promise<never>(() => undefined));
    const stuck = { next: () => new Promise<never>(() => undefined), return: close };
    let end: (reason: unknown) => void = () => undefined;
    const forget = vi.fn();
    const reading = iterate(
      { [Symbol.asyncIterator]: () => stuck },
      {
        each: () => true,
        onEnd: (stop) => {
          end = stop;
          return forget;
        },
      },
    );
    end(new Error('cancelled'));
    await expect(soon('the end', reading)).rejects.toThrow('cancelled');
    expect(close).toHaveBeenCalledOnce();
    expect(forget).toHaveBeenCalledOnce();
  });

  it('does not begin if it has already ended', async () => {
    const begin = vi.fn();
    const onEnd = (stop: (reason: unknown) => void): (() => void) => {
      stop(new Error('over'));
      return () => undefined;
    };
    const reading = iterate({ [Symbol.iterator]: begin }, { each: () => true, onEnd });
    await expect(reading).rejects.toThrow('over');
    expect(begin).not.toHaveBeenCalled();
  });

  it('can be ended while a synchronous iterable never ends', async () => {
    function* endless() {
      for (;;) yield 0;
    }
    const reading = iterate(endless(), {
      each: () => true,
      onEnd: (stop) => {
        const timer = setTimeout(() => stop(new Error('enough')));
        return () => clearTimeout(timer);
      },
    });
    await expect(reading).rejects.toThrow('enough');
  });

  it('is not for strings', () => {
    expect([isIterable('abc'), isIterable(new Set()), isIterable(null)]).toEqual([false, true, false]);
  });
});

function thrower(message: string): never {
  throw new Error(message);
}
