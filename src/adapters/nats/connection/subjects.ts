// Names as parts of NATS subjects.

import { checkKey } from '../../../state/changes.js';

const SAFE = /[A-Za-z0-9_-]/;
const PREFIX = /^[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,3}$/;
const SERVICE = /^[A-Za-z0-9_-]{1,64}$/;

/** A name as one token of a subject: different names have different tokens. Throws a RangeError for a name that no store accepts. */
export function subjectToken(name: string): string {
  checkKey(name);
  let token = '';
  for (const byte of new TextEncoder().encode(name)) {
    const character = String.fromCharCode(byte);
    token += SAFE.test(character) ? character : `=${byte.toString(16).padStart(2, '0')}`;
  }
  return token === '' ? '=' : token;
}

/** Whether `subjectToken` accepts a name. */
export function isStorableName(name: string): boolean {
  try {
    checkKey(name);
    return true;
  } catch {
    return false;
  }
}

/** Throws a TypeError unless the option `prefix` can begin a subject. */
export function checkPrefix(prefix: string): string {
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return prefix;
  throw new TypeError(
    '`prefix` must be one to four words of letters, digits, "_" and "-", separated by dots: "acme.mcp".',
  );
}

/** Whether a name can be the name of a NATS service. */
export function isServiceName(name: string): boolean {
  return SERVICE.test(name);
}

/** Throws a TypeError unless a name can be the name of a NATS service. */
export function checkServiceName(name: string): string {
  if (typeof name === 'string' && isServiceName(name)) return name;
  throw new TypeError(
    `${JSON.stringify(name)} cannot be the name of a NATS service. Use up to 64 letters, digits, "_" and "-".`,
  );
}
