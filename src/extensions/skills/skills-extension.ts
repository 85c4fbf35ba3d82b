// Skills as an extension of a server: the three methods, and every file as a resource.

import { checkOptions, fillDefaults } from '../../protocol/checks/options.js';
import { encodeBase64 } from '../../protocol/encoding/base64.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { SKILLS, type SkillEntry } from '../../protocol/model/skills/skill.js';
import type { Context } from '../../server/context/context.js';
import type { AccessRule } from '../../server/define/access.js';
import type { ExtensionHost, ServerExtension } from '../../server/define/extension.js';
import { resource } from '../../server/define/resource.js';
import { extension } from '../extension.js';
import { belongsTo, makeSkillSet, type SkillFiles, type SkillProblem, type SkillSet } from './skill-set.js';

/** The options for the skills of a server. */
export interface SkillsOptions {
  /** Folders in front of every skill's own in its URI, as in `acme/billing`. Default: none. */
  readonly prefix?: string;
  /** The time for which clients may cache the list and the files, in milliseconds. Default: 60 s. */
  readonly ttlMs?: number;
  /** The rules of a skill: which callers see it and read its files. Default: every caller does. */
  readonly rules?: (skill: SkillEntry) => AccessRule & {
    /** Tags, for the rules of the server's `access.tags`. */
    readonly tags?: readonly string[];
  };
  /** Whether a skill with a mistake is left out with a warning (`skip`). Default: `throw` a `SkillsError`. */
  readonly invalid?: 'throw' | 'skip';
}

/** The table of `SkillsOptions`. */
export const skillsTable = {
  prefix: 'string',
  ttlMs: { is: 'ms', default: 60_000 },
  rules: 'function',
  invalid: { oneOf: ['throw', 'skip'], default: 'throw' },
} as const;

/** The skills of a server. */
export interface SkillsExtension extends ServerExtension {
  /** The skills that are served now. */
  readonly list: () => readonly SkillEntry[];
  /** Reads the files again. Changes are announced. A skill with a mistake stays as it was, and the mistake is logged. */
  readonly reload: () => Promise<void>;
}

/** All mistakes in the skills of a server, in one error. */
export class SkillsError extends TypeError {
  /** The mistakes, with the file and the line of each. */
  readonly problems: readonly SkillProblem[];

  constructor(problems: readonly SkillProblem[]) {
    super(
      `${problems.length === 1 ? 'A mistake' : `${problems.length} mistakes`} in skills:\n${print(problems)}`,
    );
    this.name = 'SkillsError';
    this.problems = problems;
  }
}

function print(problems: readonly SkillProblem[]): string {
  const shown = problems.slice(0, 50).map(({ path, line, message }) => {
    return `  - ${path}${line === undefined ? '' : `:${line}`}: ${message}`;
  });
  return [...shown, ...(problems.length > 50 ? [`  … and ${problems.length - 50} more`] : [])].join('\n');
}

/** Files that were read, by path, and the mistakes that were found on the way. */
export interface ReadFiles {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly problems: readonly SkillProblem[];
}

/** The most skills on a page, and the most files of them together; a page has one skill at least. */
const PAGE = { skills: 100, files: 2000 };

/** Makes the extension from a function that reads the files. */
export async function skillsExtension(
  read: () => Promise<ReadFiles>,
  options: SkillsOptions,
): Promise<SkillsExtension> {
  const { ttlMs, rules, invalid } = fillDefaults(options, skillsTable);
  const hosts = new Map<ExtensionHost, { remove: () => void }[]>();
  let set = await load();
  if (invalid === 'throw' && set.problems.some(({ skill }) => skill !== undefined))
    throw new SkillsError(set.problems);
  const cache = { ttlMs, cacheScope: rules === undefined ? 'public' : 'private' } as const;

  async function load(): Promise<SkillSet> {
    const { files, problems } = await read();
    const broken = new Set(problems.flatMap(({ skill }) => skill ?? []));
    const whole = [...files].filter(([path]) => ![...broken].some((root) => path.startsWith(`${root}/`)));
    const made = await makeSkillSet(new Map(whole));
    return { ...made, problems: [...problems, ...made.problems] };
  }

  async function seen(ctx: Context, skills: readonly SkillEntry[]): Promise<readonly SkillEntry[]> {
    if (![...hosts.keys()].some((host) => host.isGuarded())) return skills;
    const answers = await Promise.all(skills.map(({ uri }) => mayRead(ctx, uri)));
    return skills.filter((_, at) => answers[at]);
  }

  function define(host: ExtensionHost, entry: SkillEntry): { remove: () => void } {
    const file = set.files.get(entry.uri);
    const { name, description } = entry.frontmatter;
    return host.define(
      'resource',
      entry.uri,
      resource({
        ...{ name, description, mimeType: 'text/markdown', size: file?.size ?? 0 },
        ...cache,
        ...rules?.(entry),
        read: () => contentsOf(entry.uri),
      }),
    );
  }

  function contentsOf(uri: string): object | undefined {
    const file = set.files.get(uri);
    if (file === undefined) return undefined;
    const { mimeType, text, bytes } = file;
    return text === undefined ? bytesOf(uri, mimeType, bytes) : { uri, mimeType, text };
  }

  function attach(host: ExtensionHost): void {
    for (const problem of set.problems) host.log('warning', `A skill has a mistake:\n${print([problem])}`);
    hosts.set(
      host,
      set.skills.map((entry) => define(host, entry)),
    );
    host.define(
      'resource',
      'skill://{+path}',
      resource({
        name: 'Files of skills',
        description: 'A file of a skill. skills/list has their URIs.',
        ...cache,
        async read(_values, ctx) {
          const around = set.skills.filter((skill) => belongsTo(skill, ctx.uri));
          return (await seen(ctx, around)).length > 0 ? contentsOf(ctx.uri) : undefined;
        },
      }),
    );
    host.attach({ close: async () => void hosts.delete(host) });
  }

  async function reload(): Promise<void> {
    const next = await load();
    const before = set;
    const broken = next.problems.flatMap(({ skill }) => skill ?? []);
    // A skill that is being edited stays as it was until it is whole again.
    set = broken.length === 0 ? next : await withOld(before, next, broken);
    const changed = [...new Set([...before.files.keys(), ...set.files.keys()])].filter(
      (uri) => before.files.get(uri)?.digest !== set.files.get(uri)?.digest,
    );
    for (const [host, registrations] of hosts) {
      for (const problem of next.problems)
        host.log('warning', `A skill has a mistake and stays as it was:\n${print([problem])}`);
      if (changed.length === 0) continue;
      for (const registration of registrations) registration.remove();
      hosts.set(
        host,
        set.skills.map((entry) => define(host, entry)),
      );
      for (const uri of changed) host.changed.resource(uri);
    }
  }

  const made = extension({
    id: SKILLS,
    settings: { directoryRead: true },
    // Spec, Skills, Capability Negotiation: only servers declare the extension.
    negotiated: false,
    attach,
    methods: {
      'skills/list': {
        async run({ cursor }, ctx) {
          const skills = await seen(ctx, set.skills);
          return { ...page('skills', skills, cursor), ...cache };
        },
      },
      'skills/get': {
        async run({ uri }, ctx) {
          const skill = set.skills.find((each) => each.uri === uri);
          if (skill === undefined || (await seen(ctx, [skill])).length === 0) throw unknown('skill', uri);
          return { skill, ...cache };
        },
      },
      'resources/directory/read': {
        async run({ uri, cursor }, ctx) {
          const children = typeof uri === 'string' ? set.folders.get(uri) : undefined;
          if (children === undefined) throw unknown('folder', uri);
          const visible = await seen(ctx, set.skills);
          const isVisible = (child: string): boolean =>
            visible.some((skill) => belongsTo(skill, child) || skill.uri.startsWith(`${child}/`));
          const shown =
            visible.length === set.skills.length ? children : children.filter((each) => isVisible(each.uri));
          if (shown.length === 0) throw unknown('folder', uri);
          return page('resources', shown, cursor);
        },
      },
    },
  });
  return { ...made, list: () => set.skills, reload };
}

async function withOld(before: SkillSet, next: SkillSet, broken: readonly string[]): Promise<SkillSet> {
  const isOld = (path: string): boolean => broken.some((root) => path.startsWith(`${root}/`));
  const kept = [...before.files.values()].filter(({ path }) => isOld(path));
  const files = [...kept, ...next.files.values()].map(({ path, bytes }): [string, Uint8Array] => [
    path,
    bytes,
  ]);
  return makeSkillSet(new Map(files));
}

async function mayRead(ctx: Context, uri: string): Promise<boolean> {
  try {
    return (await ctx.read(uri)).length > 0;
  } catch (error) {
    if (McpError.is(error) && (error.code === 'resource_not_found' || error.code === 'forbidden'))
      return false;
    throw error;
  }
}

// The cursor is the URI of the last entry, so that a change of the list neither repeats nor skips others.
function page(
  field: 'skills' | 'resources',
  entries: readonly { readonly uri: string; readonly resources?: SkillEntry['resources'] }[],
  cursor: unknown,
): Record<string, unknown> {
  if (cursor !== undefined && typeof cursor !== 'string')
    throw new McpError('invalid_params', 'params.cursor must be a string');
  const rest = cursor === undefined ? entries : entries.filter(({ uri }) => uri > cursor);
  let files = 0;
  const cut = rest.findIndex(({ resources = [] }, at) => {
    files += resources.length;
    return at > 0 && (at >= PAGE.skills || files > PAGE.files);
  });
  const items = cut < 0 ? rest : rest.slice(0, cut);
  return { [field]: items, ...(cut > 0 && { nextCursor: items.at(-1)?.uri }) };
}

function bytesOf(uri: string, mimeType: string, bytes: Uint8Array): object {
  return { contents: [{ uri, mimeType, blob: encodeBase64(bytes) }] };
}

function unknown(kind: 'skill' | 'folder', uri: unknown): McpError {
  return new McpError('invalid_params', `No ${kind} of a skill is served at ${shorten(String(uri), 256)}`);
}

const encoder = new TextEncoder();

/**
 * Serves skills that the program has in memory: by the path of the skill, its files by their path.
 *
 * @example
 * const notes = await skillsFrom({ 'taking-notes': { 'SKILL.md': '---\nname: taking-notes\ndescription: …\n---\n' } });
 * createServer({ name: 'notes', version: '1.0.0', extensions: [notes] });
 */
export async function skillsFrom(
  skills: Readonly<Record<string, SkillFiles>>,
  options: SkillsOptions = {},
): Promise<SkillsExtension> {
  checkOptions('skillsFrom', options, skillsTable);
  const { prefix } = options;
  return skillsExtension(async () => {
    const files = new Map<string, Uint8Array>();
    const problems: SkillProblem[] = [];
    for (const [skill, own] of Object.entries(skills)) {
      const root = prefix === undefined ? skill : `${prefix}/${skill}`;
      if (!Object.hasOwn(own, 'SKILL.md'))
        problems.push({ path: root, skill: root, message: 'The skill has no SKILL.md.' });
      for (const [path, content] of Object.entries(own))
        files.set(`${root}/${path}`, typeof content === 'string' ? encoder.encode(content) : content.slice());
    }
    return { files, problems };
  }, options);
}
