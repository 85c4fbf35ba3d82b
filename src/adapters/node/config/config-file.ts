import process from 'node:process';
import { faultOf, repeatedNameIn } from '../../../protocol/encoding/json-fault.js';
import { expandVariables, isVariable } from '../../../protocol/encoding/variables.js';
import { compileSchema } from '../../../schema/compile.js';
import { explain } from '../../../schema/explain/explain.js';
import { checkPublicUrl } from '../../../transports/http/server/guard.js';
import { checkPath } from '../../../transports/http/server/routes.js';
import { readTrustProxy } from '../../../transports/http/server/trusted-proxies.js';
import type { ServeOptions } from '../server/options.js';
import { type Environment, secretsOf } from './environment.js';
import { readSmallFile } from './read-file.js';
import { configSchema, settings } from './settings.js';

// The config file of a server. One error names its mistakes, but never a value that may be a secret.

const MAX_BYTES = 1024 * 1024;

/** The options of a config file. */
export interface FileOptions {
  readonly options: ServeOptions;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
}

/** Reads a config file, replaces environment variables, and reads the file of the secret. */
export function readServerConfig(path: string, env: Environment): FileOptions {
  const { text, isPublic } = readSmallFile(path, 'The config file', MAX_BYTES);
  const written = parse(text, path);
  checkShape(written, path);
  const mistakes: string[] = [];
  const { $schema, ...expanded } = expand(written, [], env, mistakes) as Record<string, unknown>;
  if (mistakes.length === 0) mistakes.push(...mistakesIn(expanded));
  if (mistakes.length > 0) fail(path, mistakes.join('; '));
  const { secretFile, ...options } = expanded as ServeOptions;
  const secret = secretsOf(expanded as ServeOptions, `"secret" and "secretFile" in ${path}`);
  const isOpen = isPublic && process.platform !== 'win32' && hasPlainSecret(written);
  return {
    options: secret === undefined ? options : { ...options, secret },
    warnings: isOpen
      ? [
          `The config file ${path} has a secret, and every user of this machine may read it. Run: chmod o-r ${path}. Or write "\${NAME}" in it, and set the environment variable.`,
        ]
      : [],
  };
}

function parse(text: string, path: string): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The runtime's error may quote the file.
    const { line, column, reason } = faultOf(json);
    fail(path, `It is not JSON: line ${line}, column ${column}: ${reason}`);
  }
  const repeated = repeatedNameIn(json);
  if (repeated !== undefined)
    fail(path, `Line ${repeated.line}, column ${repeated.column}: ${repeated.reason}`);
  return value;
}

function checkShape(value: unknown, path: string): void {
  const schema = compileSchema(configSchema(), { io: 'output' });
  const checked = schema.validate(value);
  if (checked instanceof Promise || checked.ok) return;
  const secret = checked.issues.find((issue) => isSecret(issue.path));
  fail(
    path,
    secret === undefined
      ? explain(checked.issues, schema, value)
      : `"${secret.path.join('.')}" must be a string, or an array of strings`,
  );
}

function fail(path: string, problem: string): never {
  throw new TypeError(`The config file ${path} is wrong. ${problem}${/[.?]$/.test(problem) ? '' : '.'}`);
}

type Path = readonly (string | number)[];

function expand(value: unknown, path: Path, env: Environment, mistakes: string[]): unknown {
  if (typeof value === 'string')
    return expandVariables(value, env, (what) => mistakes.push(`"${path.join('.')}" ${what}`));
  if (Array.isArray(value)) return value.map((item, at) => expand(item, [...path, at], env, mistakes));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, expand(item, [...path, name], env, mistakes)]),
  );
}

/** The mistakes that the schema cannot see, above all in the values of variables. */
function mistakesIn({ path, publicUrl, trustProxy }: ServeOptions): readonly string[] {
  const checks = [
    () => path !== undefined && checkPath(path, '"path"'),
    () => publicUrl !== undefined && checkPublicUrl(publicUrl, '"publicUrl"'),
    () => readTrustProxy(trustProxy),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/** Whether a secret is written out: not as a variable, and not as the path of a file. */
function hasPlainSecret(value: unknown, path: Path = []): boolean {
  if (typeof value === 'string') return isSecret(path) && !isVariable(value) && isPlain(value, path);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, item]) => hasPlainSecret(item, [...path, name]));
}

function isPlain(value: string, path: Path): boolean {
  if (path[0] === 'clusterUrl') return /:\/\/[^/@]*:[^/@$]+@/.test(value);
  return path[1] !== 'key' || value.includes('-----BEGIN');
}

function isSecret([name, inner]: Path): boolean {
  const schema = Object.hasOwn(settings, name ?? '')
    ? (settings[name as keyof typeof settings].schema as Node)
    : undefined;
  return schema?.writeOnly === true || schema?.properties?.[inner ?? '']?.writeOnly === true;
}

interface Node {
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, Node>>;
}
