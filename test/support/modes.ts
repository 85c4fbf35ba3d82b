import { statSync } from 'node:fs';
import process from 'node:process';
import { expect } from 'vitest';

/** Expects that a file has these permissions, where there are such. Windows has access lists instead. */
export function expectMode(file: string, mode: number): void {
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(mode);
}
