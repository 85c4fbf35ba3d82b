// Several versions of one tool.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Auth, Call } from '../../../protocol/call.js';
import type { Caller } from '../../../protocol/caller.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { contractDigest } from '../../../protocol/contract-digest.js';
import { isMarkedRemoved, REMOVED } from '../../../protocol/removed-tools.js';
import { VERSION, VERSIONS } from '../../../protocol/tables/meta-keys.js';
import type { Composed } from '../../catalog/compile.js';
import type { CompiledTool, ToolVersions } from '../../catalog/tools.js';
import type { ToolPolicy } from '../../define/policy.js';
import type { Tool } from '../../define/tool.js';
import type { Awaitable } from '../../define/tool-handler.js';
import { combineAccess } from '../combined-access.js';
import { withTags } from './reshape.js';

/** The options of `versions`. */
export interface VersionsOptions<Version extends string = string> {
  /**
   * The version that a caller gets; undefined for `current`. Called for each list and each call. If it fails, the tool does not exist
   * for the caller. Default: every caller gets `current`.
   */
  readonly choose?: (
    /** The caller; undefined for an anonymous or local one. */
    auth: Auth | undefined,
  ) => Awaitable<Version | undefined>;
  /**
   * The version that callers get unless `choose` gives them another one. `none` removes the tool: it is not listed, and all versions
   * answer only callers that still have it in their list. Default: the newest.
   */
  readonly current?: Version | 'none';
}

const NONE = 'none';

const optionTable = { choose: 'function', current: 'string' } as const satisfies OptionTable<VersionsOptions>;

const NUMBERS = /^\d{1,9}(?:[.-]\d{1,9}){0,5}$/;

/** Makes one tool of several versions. Throws a TypeError that describes a mistake. */
export function joinVersions(tools: Readonly<Record<string, Tool>>, given: VersionsOptions = {}): Tool {
  const options = readOptions('versions', given, optionTable);
  const { choose, current } = options;
  const sorted = sortVersions(Object.keys(tools));
  if (current !== undefined && current !== NONE && !sorted.includes(current))
    throw new TypeError(
      `versions: "current" is "${String(current)}", but the versions are: ${sorted.join(', ')}. "none" removes the tool.`,
    );
  const tags = [...new Set(Object.values(tools).flatMap(({ options }) => options?.tags ?? []))];
  const composed: Composed<CompiledTool> = {
    '~compile'(compile, { log, name, tags: given }) {
      const added = given.filter((tag) => !tags.includes(tag));
      const compiled = sorted.map((version) => {
        const tool = tools[version] as Tool;
        return compile({ ...tool, options: withTags(tool.options, { tags: added }) });
      });
      const chooseAt = chooser(sorted, options, (problem, error) =>
        log('error', `"choose" of the tool "${name}" ${problem}`, error),
      );
      const isByCaller = choose !== undefined;
      const isRemoved = current === NONE && !isByCaller;
      const digests = compiled.map(
        ({ listed }, at) => [sorted[at] as string, contractDigest(listed)] as const,
      );
      const all = compiled.map((tool, at) =>
        withVersion(tool, {
          version: sorted[at] as string,
          // A caller does not learn of versions that other callers get.
          kept: isByCaller ? undefined : Object.fromEntries(digests),
          isRemoved,
          isFor: async (caller) => (await chooseAt(caller)) === at,
        }),
      );
      return {
        ...(all[0] as CompiledTool),
        versions: {
          ...{ all, choose: chooseAt, isByCaller, meant: meantVersion },
          async ownerOfTasks(caller) {
            const { auth, http, isLocal } = caller;
            return isRemoved ? { auth, http, isLocal, pinned: { of: chooseAt, at: 0 } } : caller;
          },
        },
      };
    },
  };
  const newest = tools[sorted[0] as string] as Tool;
  return {
    kind: 'tool',
    options: { ...(tags.length > 0 && { tags }) },
    run: newest.run as never,
    ...composed,
  } as Tool;
}

function chooser(
  sorted: readonly string[],
  { choose, current = sorted[0] as string }: VersionsOptions,
  report: (problem: string, error?: unknown) => void,
): ToolVersions['choose'] {
  return async function chooseVersion(caller) {
    const { auth, pinned } = caller;
    if (pinned?.of === chooseVersion) return pinned.at;
    try {
      const version = (await choose?.(auth)) ?? current;
      if (version === NONE) return choose === undefined && listsRemoved(caller) ? 0 : -1;
      const at = sorted.indexOf(version as string);
      if (at === -1) report(`returned "${String(version)}", but the versions are: ${sorted.join(', ')}.`);
      return at;
    } catch (error) {
      report('failed, so the caller was refused.', error);
      return -1;
    }
  };
}

/** Whether the caller lists tools, with those that were removed. */
function listsRemoved(caller: Caller & Partial<Pick<Call, 'method' | 'params'>>): boolean {
  const { method, params = {} } = caller;
  return method === 'tools/list' && isMarkedRemoved(params);
}

/**
 * Finds the version that a caller with an older list means; of a removed tool, the newest if it is none in particular. `all` are the versions as callers see
 * them: `transform` may have changed them.
 */
const meantVersion: ToolVersions['meant'] = async (all, args, chosen) => {
  const fits = async (tool: CompiledTool | undefined): Promise<boolean> =>
    tool !== undefined && hasOnlyKnown(tool, args) && (await tool.input.validate(args)).ok;
  if (await fits(all[chosen])) return chosen;
  const others = await Promise.all(all.map(async (tool, at) => at !== chosen && (await fits(tool))));
  const at = others.indexOf(true);
  return at !== -1 && at === others.lastIndexOf(true) ? at : Math.max(chosen, 0);
};

/** Keywords through which a schema may know more arguments than those that it lists. */
const OPEN = ['patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/** Whether a tool knows all arguments by name. A validator may ignore what it does not know, and so accept the call of another version. */
function hasOnlyKnown({ input: { json } }: CompiledTool, args: unknown): boolean {
  const { properties, additionalProperties } = json;
  if (!isObject(args) || !isObject(properties) || OPEN.some((keyword) => keyword in json)) return true;
  if (additionalProperties === true || isObject(additionalProperties)) return true;
  return Object.keys(args).every((name) => Object.hasOwn(properties, name));
}

/** One version of a tool, among the others. */
interface Place {
  readonly version: string;
  /** The digests of all versions that answer the caller, by version. */
  readonly kept: JsonObject | undefined;
  readonly isRemoved: boolean;
  readonly isFor: (caller: Caller) => Promise<boolean>;
}

function withVersion(tool: CompiledTool, { version, kept, isRemoved, isFor }: Place): CompiledTool {
  const { name, options, access, listed } = tool;
  const {
    tags = [],
    annotations: { readOnly = false, destructive = true, idempotent = readOnly, openWorld = true } = {},
  } = options;
  // A policy applies to local callers, too. Each of them must see one version only.
  const policy: ToolPolicy = {
    tool: { name, tags, readOnly, destructive: destructive && !readOnly, idempotent, openWorld },
    admits: isFor,
    allows: isFor,
    refusal: async () => undefined,
    denial: 'This version of the tool is not served any more. List the tools again.',
  };
  const target = { kind: 'tool', name } as const;
  return {
    ...tool,
    version,
    listed: {
      ...listed,
      _meta: {
        ...listed._meta,
        [VERSION]: version,
        ...(kept && { [VERSIONS]: kept }),
        ...(isRemoved && { [REMOVED]: true }),
      },
    },
    access: combineAccess(target, access ?? { target, scopes: [], allow: [], policy: undefined }, {
      target,
      scopes: [],
      allow: [],
      policy,
    }),
  };
}

/** The newest first. */
function sortVersions(versions: readonly string[]): readonly string[] {
  if (versions.length === 0)
    throw new TypeError('versions: there must be one version, at least: { "1.0": tool({ … }) }');
  for (const version of versions)
    if (!NUMBERS.test(version))
      throw new TypeError(
        `versions: "${version}" is not a version: write numbers with dots or hyphens, such as "1.0" or "2026-11-16".`,
      );
  const sorted = [...versions].sort((a, b) => compare(b, a));
  const twin = sorted.find((version, at) => at > 0 && compare(version, sorted[at - 1] as string) === 0);
  if (twin !== undefined) throw new TypeError(`versions: "${twin}" is there twice.`);
  return sorted;
}

function compare(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): readonly number[] {
  return version.split(/[.-]/).map(Number);
}
