// The skills of a server, for its client: lists, loads and verifies them. Nothing is read before it is needed, nothing is run.

import { isObject } from '../../jsonrpc/message.js';
import { decodeBase64 } from '../../protocol/encoding/base64.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedResource } from '../../protocol/model/model.js';
import { digestOf } from '../../protocol/model/skills/digest.js';
import {
  folderOf,
  pathWithin,
  readFrontmatter,
  SKILL_LIMITS,
  SKILLS,
  type SkillEntry,
  SkillMistake,
} from '../../protocol/model/skills/skill.js';
import { listing } from '../calls/listing.js';
import type { Client, Listing } from '../model/client.js';
import type { CallOptions } from '../model/options.js';
import { checkEntry, isEqual } from './check-entry.js';

/** The skills of one server. The contents are as untrustworthy as the server: a digest shows only that it does not contradict itself. */
export interface Skills {
  /** Whether the server declares the extension. Without it, there are no skills. */
  readonly isSupported: () => boolean;
  /** Lists the skills. Their files are not read. An entry that breaks the rules of the extension is left out. */
  readonly list: (options?: CallOptions) => Listing<Skill>;
  /** The skill with a URI, listed or not. */
  readonly get: (uri: string, options?: CallOptions) => Promise<Skill>;
  /** Lists a folder as the server has it now: `skill://pdf-processing/templates`. Fails if the server cannot. */
  readonly folder: (uri: string, options?: CallOptions) => Listing<ListedResource>;
}

/** A skill with the entry that all its files are verified by. */
export interface Skill extends SkillEntry {
  /** The name of the skill: a label, which another skill may have as well. */
  readonly name: string;
  /** The purpose of the skill, and when to use it. */
  readonly description: string;
  /** The paths of the files, `SKILL.md` among them; undefined if the skill is generated. */
  readonly paths: readonly string[] | undefined;
  /** Reads `SKILL.md`, and verifies it and its front matter. Throws `bad_response` if something differs from the entry. */
  readonly load: (options?: CallOptions) => Promise<string>;
  /** Reads and verifies a file by its path. Throws `invalid_params` if the entry does not have it. */
  readonly read: (path: string, options?: CallOptions) => Promise<SkillContent>;
}

/** A verified file of a skill. */
type SkillContent = {
  /** The URI of the file. */
  readonly uri: string;
  /** The media type that the server gives. */
  readonly mimeType: string | undefined;
  /** The bytes of the file. */
  readonly bytes: Uint8Array;
  /** The text of the file; undefined if it is binary. */
  readonly text: string | undefined;
};

/**
 * The skills of a server, over a client that is connected to it. For a client of several servers, pass that of one:
 * `skillsOf(await client.member('docs'))`.
 *
 * @example
 * const skills = skillsOf(client);
 * for await (const { name, description } of skills.list()) console.log(name, description);
 * const skill = await skills.get('skill://pdf-processing/SKILL.md');
 * const instructions = await skill.load();
 */
export function skillsOf(client: Client): Skills {
  const settings = (): unknown => client.server.capabilities.extensions?.[SKILLS];

  function requireSupport(): void {
    if (!isObject(settings())) throw new McpError('method_not_found', 'The server declares no skills.');
  }

  return {
    isSupported: () => isObject(settings()),
    list(options) {
      const entries = listing<SkillEntry>('skills', {
        async fetchPage(params) {
          requireSupport();
          return client.request('skills/list', params, options);
        },
        problem: ignore,
      });
      async function* skills(): AsyncGenerator<Skill, void, undefined> {
        const seen = new Set<string>();
        for await (const entry of entries) {
          if (checkEntry(entry) !== undefined || seen.has(entry.uri)) continue;
          seen.add(entry.uri);
          yield skillOf(client, entry);
        }
      }
      return {
        [Symbol.asyncIterator]: skills,
        async all() {
          const all: Skill[] = [];
          for await (const skill of skills()) all.push(skill);
          return all;
        },
      };
    },
    async get(uri, options) {
      requireSupport();
      const { skill } = await client.request('skills/get', { uri }, options);
      const problem = checkEntry(skill);
      if (problem !== undefined) throw failure(uri, problem);
      if ((skill as SkillEntry).uri !== uri) throw failure(uri, 'the server sent the entry of another skill');
      return skillOf(client, skill as SkillEntry);
    },
    folder: (uri, options) =>
      listing<ListedResource>('resources', {
        async fetchPage(params) {
          const declared = settings();
          if (!isObject(declared) || declared['directoryRead'] !== true)
            throw new McpError('method_not_found', 'The server does not list the folders of skills.');
          return client.request('resources/directory/read', { uri, ...params }, options);
        },
        problem: ignore,
      }),
  };
}

function skillOf(client: Client, entry: SkillEntry): Skill {
  const { uri, frontmatter, resources } = entry;
  const folder = folderOf(uri) as string;
  const files = resources === 'dynamic' ? undefined : new Map(resources.map((file) => [file.uri, file]));
  let received = 0;

  async function readVerified(target: string, options: CallOptions = {}): Promise<SkillContent> {
    const content = await readOnce(target, options);
    const problem = await mismatch(content);
    if (problem === undefined) return content;
    // A cached copy may be older than the entry.
    if (options.fresh !== true) return readVerified(target, { ...options, fresh: true });
    throw failure(target, problem);
  }

  async function readOnce(target: string, options: CallOptions): Promise<SkillContent> {
    const { contents } = await client.readResource(target, options);
    const [only] = contents;
    if (contents.length !== 1 || only?.uri !== target) throw failure(target, 'the server sent another file');
    const { mimeType, text, blob } = only as { mimeType?: string; text?: unknown; blob?: unknown };
    const bytes =
      typeof text === 'string'
        ? new TextEncoder().encode(text)
        : typeof blob === 'string'
          ? decodeBase64(blob)
          : undefined;
    if (bytes === undefined) throw failure(target, 'the server sent neither text nor base64');
    received += files === undefined ? bytes.length : 0;
    if (received > SKILL_LIMITS.maxBytes)
      throw failure(target, `the skill has more than ${SKILL_LIMITS.maxBytes} bytes`);
    return { uri: target, mimeType, bytes, text: typeof text === 'string' ? text : undefined };
  }

  async function mismatch({ uri: target, bytes }: SkillContent): Promise<string | undefined> {
    const file = files?.get(target);
    if (file === undefined) return undefined;
    if (bytes.length !== file.size) return `it has ${bytes.length} bytes, and the entry says ${file.size}`;
    return (await digestOf(bytes)) === file.digest ? undefined : 'its digest differs from that of the entry';
  }

  return {
    ...entry,
    name: frontmatter.name,
    description: frontmatter.description,
    paths: files && [...files.keys()].map((file) => pathWithin(folder, file) as string),
    async load(options) {
      const { text } = await readVerified(uri, options);
      try {
        if (text === undefined) throw new SkillMistake('it is not text');
        if (!isEqual(readFrontmatter(text), frontmatter))
          throw new SkillMistake('its front matter differs from that of the entry');
        return text;
      } catch (error) {
        throw error instanceof SkillMistake ? failure(uri, error.message) : error;
      }
    },
    async read(path, options) {
      const listed = files && [...files.keys()].find((file) => pathWithin(folder, file) === path);
      const target = listed ?? `${folder}/${path.split('/').map(encodeURIComponent).join('/')}`;
      if ((files !== undefined && listed === undefined) || pathWithin(folder, target) === undefined)
        throw new McpError(
          'invalid_params',
          `The skill ${shorten(uri, 200)} has no file ${shorten(path, 200)}.`,
        );
      return readVerified(target, options);
    },
  };
}

function failure(uri: string, problem: string): McpError {
  return new McpError(
    'bad_response',
    `The skill file ${shorten(uri, 200)} cannot be used: ${problem}. If the skill was changed, get it again.`,
  );
}

// Entries that are not objects are left out, like all others that break the rules.
function ignore(): void {}
