// Applies all rules to a manifest.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { shownSource } from '../../protocol/tables/hosts.js';
import { LIST_NAMES, LISTS, type Manifest } from '../manifest/manifest.js';
import { checkForHost, checkListForHost, type HostFound } from './check-host.js';
import { type HostName, type HostProfile, PROFILES } from './host-profiles.js';
import { HOST_RULES } from './host-rules.js';
import { type Found, type LintFinding, type LintRule, RULES, type Severity } from './rules.js';
import { checkSchema } from './schema-rules.js';
import { checkSimilar } from './similar.js';
import { checkHints, checkName, checkTexts } from './text-rules.js';
import { toolTokens } from './tokens.js';

const MAX_FINDINGS = 5000;
const MAX_TOOL_TOKENS = 1000;
const MAX_TOKENS = 10_000;
const ORDER: readonly Severity[] = ['error', 'warning', 'advice'];

export interface LintOptions {
  /** The rules that are left out. */
  readonly ignore: ReadonlySet<string>;
  /** The most tokens that all tools may have together; more is an error. Default: more than 10,000 is a warning. */
  readonly maxTokens: number | undefined;
  /** The hosts whose own rules are checked as well. Default: none. */
  readonly hosts?: readonly HostName[];
}

export interface Linted {
  readonly findings: readonly LintFinding[];
  /** The estimated tokens of each tool. */
  readonly tokens: ReadonlyMap<string, number>;
  readonly total: number;
}

/** Finds everything in a manifest that a model or its vendor may trip over. The severest findings of each definition come first. */
export function lintManifest(manifest: Manifest, options: LintOptions): Linted {
  const { ignore, maxTokens, hosts = [] } = options;
  const profiles = hosts.map((host) => PROFILES[host]);
  const server = String(manifest.server['name'] ?? '');
  const findings: LintFinding[] = [];
  const add = (all: readonly LintFinding[]): void => {
    const wanted = all.filter(({ rule }) => !ignore.has(rule));
    wanted.sort((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity));
    if (findings.length < MAX_FINDINGS) findings.push(...wanted);
  };
  const tokens = new Map(manifest.tools.map((tool) => [String(tool['name']), toolTokens(tool)]));
  const total = [...tokens.values()].reduce((sum, one) => sum + one, 0);
  const similar = checkSimilar(manifest.tools);
  for (const list of LIST_NAMES)
    for (const item of manifest[list]) {
      const { key, one: kind } = LISTS[list];
      const name = String(item[key]);
      const isTool = list === 'tools';
      const found = [
        ...(isTool || list === 'prompts' ? checkName(name) : []),
        ...checkTexts(item),
        ...(isTool ? toolFindings(item, tokens.get(name) ?? 0) : []),
        ...((isTool && similar.get(name)) || []),
      ];
      const ofHosts = (profile: HostProfile): readonly LintFinding[] =>
        checkForHost(item, profile, server).map((one) => hostFinding({ kind, name, profile }, one));
      add([...found.map((one) => finding(kind, name, one)), ...(isTool ? profiles.flatMap(ofHosts) : [])]);
    }
  for (const profile of profiles)
    add(
      checkListForHost(manifest.tools, profile).map((one) =>
        hostFinding({ kind: 'server', name: server, profile }, one),
      ),
    );
  if (total > (maxTokens ?? MAX_TOKENS)) {
    const says = `all tools have about ${total} tokens, more than ${maxTokens ?? MAX_TOKENS}`;
    add([finding('server', server, { rule: 'total-tokens', says })]);
  }
  return { findings: maxTokens === undefined ? findings : findings.map(asked), tokens, total };
}

function toolFindings(tool: JsonObject, tokens: number): readonly Found[] {
  const { inputSchema } = tool;
  return [
    ...checkSchema(isObject(inputSchema) ? inputSchema : {}),
    ...checkHints(tool),
    ...(tokens > MAX_TOOL_TOKENS
      ? [
          {
            rule: 'tool-tokens',
            says: `it has about ${tokens} tokens, more than ${MAX_TOOL_TOKENS}`,
          },
        ]
      : []),
  ];
}

/** A budget that was asked for is not a recommendation. */
function asked(one: LintFinding): LintFinding {
  return one.rule === 'total-tokens' ? { ...one, severity: 'error' } : one;
}

function finding(kind: LintFinding['kind'], name: string, { rule, path, vendors, says }: Found): LintFinding {
  const { severity, fix: advice, fixes, vendors: usual } = RULES[rule] as LintRule;
  const fix = fixes?.[kind] ?? advice;
  return { rule, severity, kind, name, ...(path && { path }), vendors: vendors ?? usual, says, fix };
}

interface HostSubject {
  readonly kind: LintFinding['kind'];
  readonly name: string;
  readonly profile: HostProfile;
}

function hostFinding({ kind, name, profile }: HostSubject, { rule, says, row }: HostFound): LintFinding {
  const facts = { vendors: [profile.title], says, fix: HOST_RULES[rule] ?? '' };
  return { rule, severity: row.severity, kind, name, ...facts, source: shownSource(row.source) };
}
