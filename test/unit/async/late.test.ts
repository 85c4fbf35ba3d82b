import { describe, expect, it } from 'vitest';
import { late } from '../../../src/async/late.js';

describe('a part that is made late', () => {
  it('is returned as soon as it was provided', () => {
    const part = late<{ readonly name: string }>('the part');
    const made = { name: 'made' };
    part.provide(made);
    expect(part.get()).toBe(made);
  });

  it('may be undefined, which is not the same as missing', () => {
    const part = late<string | undefined>('the part');
    part.provide(undefined);
    expect(part.get()).toBeUndefined();
  });

  it('throws an error with its name if it is used too early or made twice', () => {
    const part = late<number>('the host of tasks');
    expect(() => part.get()).toThrow('the host of tasks was used before it was made');
    part.provide(1);
    expect(() => part.provide(2)).toThrow('the host of tasks was made twice');
  });
});
