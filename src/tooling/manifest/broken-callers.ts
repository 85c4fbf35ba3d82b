// Callers whose recorded calls would break with another version of a server.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { isMarkedRemoved } from '../../protocol/removed-tools.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { compileSchema } from '../../schema/compile.js';
import { cleanLine } from '../clean.js';
import type { Manifest } from './manifest.js';
import { versionKept, versionsLost } from './version-kept.js';

/** A call of a tool that was recorded. */
export interface RecordedUse {
  readonly tool: string;
  readonly args: JsonObject;
  /** The caller and its client, as far as the record has them. */
  readonly caller: string | undefined;
  readonly client: string | undefined;
  /** The time of the call, in ISO 8601. */
  readonly at: string | undefined;
}

/** A caller of a tool whose calls would break. */
export interface BrokenCaller {
  readonly tool: string;
  readonly caller?: string;
  readonly client?: string;
  /** The number of calls that would break. */
  readonly calls: number;
  /** The time of the last one. */
  readonly last?: string;
  /** The reason of the first one. */
  readonly says: string;
}

type Check = (args: JsonObject) => Promise<string | undefined>;

const MAX_CALLERS = 10_000;

/** Counts the calls that would break, by tool and caller. */
export class BrokenCallers {
  readonly #before: ReadonlyMap<string, JsonObject>;
  readonly #after: ReadonlyMap<string, JsonObject>;
  readonly #checks = new Map<string, Check>();
  readonly #broken = new Map<string, BrokenCaller>();

  constructor(before: Manifest, after: Manifest) {
    this.#before = byName(before);
    this.#after = byName(after);
  }

  /** The callers whose calls would break, those with the most calls first. */
  get broken(): readonly BrokenCaller[] {
    return [...this.#broken.values()].sort((a, b) => b.calls - a.calls);
  }

  async add({ tool, args, caller, client, at }: RecordedUse): Promise<void> {
    const check = this.#checks.get(tool) ?? this.#checkOf(tool);
    this.#checks.set(tool, check);
    const says = await check(args);
    if (says === undefined) return;
    const key = JSON.stringify([tool, caller, client]);
    const known = this.#broken.get(key);
    if (known === undefined && this.#broken.size >= MAX_CALLERS) return;
    const last = [known?.last, at]
      .filter((time) => time !== undefined)
      .sort()
      .at(-1);
    this.#broken.set(key, {
      tool: cleanLine(tool, 128),
      ...(caller !== undefined && { caller: cleanLine(caller, 128) }),
      ...(client !== undefined && { client: cleanLine(client, 128) }),
      calls: (known?.calls ?? 0) + 1,
      ...(last !== undefined && { last }),
      says: known?.says ?? says,
    });
  }

  #checkOf(tool: string): Check {
    const [was, is] = [this.#before.get(tool), this.#after.get(tool)];
    // The call has failed already: the tool was gone before, or is another server's.
    if (was === undefined) return async () => undefined;
    const isKept = is !== undefined && versionKept(was, is) !== undefined;
    if (is === undefined || (isMarkedRemoved(is) && !isKept)) return async () => 'the tool was removed';
    const [old, now] = [schemaOf(was), schemaOf(is)];
    const olderLost = versionsLost(was, is);
    return async (args) => {
      if (old === undefined || now === undefined) return undefined;
      const fits = (await old.validate(args)).ok;
      // An older version has answered the call, or it has failed already.
      if (olderLost.length > 0 && !(fits && knowsAll(was, args))) return mayHaveAnswered(olderLost);
      if (!fits || isKept) return undefined;
      const lost = Object.keys(args).find((name) => has(was, name) && !has(is, name));
      if (lost !== undefined) return `the argument ${cleanLine(lost, 64)} was removed`;
      const checked = await now.validate(args);
      if (checked.ok) return undefined;
      const [issue] = checked.issues;
      return `its arguments are refused: ${cleanLine(JSON.stringify(issue), 200)}`;
    };
  }
}

function mayHaveAnswered(versions: readonly string[]): string {
  const names = versions.map((version) => cleanLine(version, 64)).join(', ');
  return `its arguments do not fit the current version, and a version that may have answered it is gone: ${names}`;
}

/** The tools that answer calls, also those that are not listed any more. */
function byName({ tools, removed = [] }: Manifest): ReadonlyMap<string, JsonObject> {
  return new Map([...tools, ...removed].map((tool) => [String(tool['name']), tool]));
}

/** The schema of a tool's arguments; undefined if it cannot be read. */
function schemaOf({ inputSchema }: JsonObject): CompiledSchema | undefined {
  try {
    return compileSchema(inputSchema as never, { io: 'input' });
  } catch {
    return undefined;
  }
}

/** Whether a tool lists all arguments by name, as far as it lists any. */
function knowsAll(tool: JsonObject, args: JsonObject): boolean {
  const { inputSchema } = tool;
  const isClosed = isObject(inputSchema) && isObject(inputSchema['properties']);
  return !isClosed || Object.keys(args).every((name) => has(tool, name));
}

function has({ inputSchema }: JsonObject, name: string): boolean {
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined;
  return isObject(properties) && Object.hasOwn(properties, name);
}
