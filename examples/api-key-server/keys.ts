import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type ApiKey, hashApiKey } from 'fullmcp/auth';

// The keys are in a JSON file, which has only their hashes: nobody can call the server with what is in the file.

/** The beginning of every key, so that people and scanners recognize a key that has leaked. */
export const prefix = 'office_';

export async function readKeys(file: string): Promise<ApiKey[]> {
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : [];
}

/** Adds a key to the file. Returns the key itself, which is not stored anywhere. */
export async function addKey(file: string, caller: Omit<ApiKey, 'hash'>): Promise<string> {
  const key = `${prefix}${randomBytes(32).toString('base64url')}`;
  const keys = [...(await readKeys(file)), { hash: await hashApiKey(key), ...caller }];
  await writeFile(file, `${JSON.stringify(keys, undefined, 2)}\n`);
  return key;
}
