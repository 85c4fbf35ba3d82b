import { isLogLevel } from '../../../protocol/tables/log-level.js';
import { isLogFormat } from '../../../protocol/telemetry/log-settings.js';
import { checkPublicUrl } from '../../../transports/http/server/guard.js';
import { checkPath } from '../../../transports/http/server/routes.js';

// Reads the values of environment variables.

/** Reads the value of a variable. Throws an error that names the variable. */
export type ReadVariable = (value: string, name: string) => unknown;

export function asIs(value: string): string {
  return value;
}

/** Strings with commas between them. */
export function list(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function proxies(value: string): number | string[] {
  return /^\s*\d+\s*$/.test(value) ? Number(value) : list(value);
}

export function pathName(value: string, name: string): string {
  checkPath(value, `The environment variable ${name}`);
  return value;
}

export function publicUrl(value: string, name: string): string {
  checkPublicUrl(value, `The environment variable ${name}`);
  return value;
}

export function portNumber(value: string, name: string): number {
  const port = wholeNumber(value, name);
  if (port <= 65_535) return port;
  throw new RangeError(`The environment variable ${name} must be a port from 0 to 65535, but it is ${port}.`);
}

export function workerCount(value: string, name: string): number | 'auto' {
  if (value === 'auto') return value;
  const count = wholeNumber(value, name);
  if (count >= 1) return count;
  throw new RangeError(`The environment variable ${name} must be "auto" or a whole number, 1 or more.`);
}

export function wholeNumber(value: string, name: string): number {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new RangeError(
      `The environment variable ${name} must be a whole number, 0 or more, but it is ${JSON.stringify(value)}.`,
    );
  }
  return number;
}

export function levelName(value: string, name: string): string {
  if (isLogLevel(value)) return value;
  throw new RangeError(`The environment variable ${name} must be a level, from debug to emergency.`);
}

export function formatName(value: string, name: string): string {
  if (isLogFormat(value)) return value;
  throw new RangeError(`The environment variable ${name} must be json or text.`);
}
