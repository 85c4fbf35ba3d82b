import { expect } from 'vitest';

/** The error that a promise rejects with, which must be of a class. */
export async function failureOf<T extends Error>(
  type: new (...args: never[]) => T,
  promise: Promise<unknown>,
): Promise<T> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(type);
  return error as T;
}
