// The definitions of a server, or of an object of definitions, with changes.

import {
  type AnyTable,
  type OptionTable,
  optionMistakes,
  readOptions,
} from '../../../protocol/checks/options.js';
import { isTemplate } from '../../../protocol/uri-template/template.js';
import type { GuardedOptions } from '../../access/access.js';
import type { Guarded } from '../../access/views.js';
import { DefinitionError } from '../../catalog/compile.js';
import { type CompiledEvent, checkEventName } from '../../catalog/events.js';
import type { CompiledPrompt } from '../../catalog/prompts.js';
import type { DefinitionList } from '../../catalog/registry.js';
import type { CompiledResource } from '../../catalog/resources.js';
import type { ToolErrors } from '../../catalog/run-tool.js';
import { type CompiledTool, checkToolName } from '../../catalog/tools.js';
import { composeNames, type Names } from '../names.js';
import type { MountView, ViewedDefinition } from '../view.js';
import type { AnyChange, Changes, EventChange, PromptChange, ResourceChange, ToolChange } from './changes.js';
import { reshapeEvent, reshapePrompt, reshapeResource, reshapeTool, withTags } from './reshape.js';

const changesTable = {
  tools: 'object',
  resources: 'object',
  prompts: 'object',
  events: 'object',
  every: 'function',
} as const satisfies OptionTable<Changes>;

const untitled = {
  hidden: 'boolean',
  description: 'string',
  tags: 'any',
  scopes: 'any',
  allow: 'any',
  name: 'string',
} as const;
const shared = { ...untitled, title: 'string' } as const;
const runs = { ...shared, args: 'any', run: 'function' } as const;
const tables = {
  tools: runs satisfies OptionTable<ToolChange>,
  prompts: runs satisfies OptionTable<PromptChange>,
  resources: { ...shared, uri: 'string', read: 'function' } as const satisfies OptionTable<ResourceChange>,
  events: untitled satisfies OptionTable<EventChange>,
};
const foreign = {
  hide: 'hidden',
  enabled: 'Write hidden: true.',
  arguments: 'args',
  wrap: 'run',
  auth: 'allow',
};

const kindOf = { tools: 'tool', resources: 'resource', prompts: 'prompt', events: 'event' } as const;

/** The changes of single definitions. */
export class View implements MountView {
  readonly names: Names;
  readonly #changes: Changes;
  readonly #base: MountView | undefined;
  readonly #own = new RenamedDefinitions();

  constructor(changes: Changes, base?: MountView) {
    readOptions('transform', changes, changesTable);
    for (const kind of ['tools', 'resources', 'prompts', 'events'] as const)
      this.#check(kind, changes[kind] ?? {});
    this.#changes = changes;
    this.#base = base;
    this.names = composeNames(base?.names, this.#own);
  }

  of(kind: DefinitionList, innerName: string, innerOptions: GuardedOptions): ViewedDefinition | undefined {
    const base = this.#base?.of(kind, innerName, innerOptions);
    if (this.#base !== undefined && base === undefined) return undefined;
    const name = this.#base?.names.outer(kind, innerName) ?? innerName;
    const changes = this.#changesOf(kind, name, base?.options ?? innerOptions);
    if (last(changes, 'hidden') === true) return undefined;
    const newName = last(changes, kind === 'resources' ? 'uri' : 'name');
    if (newName !== undefined && newName !== name) {
      naming(kind, name, () => checkNewName(kind, name, newName));
      this.#own.rename(kind, name, newName);
    }
    return {
      options: changes.reduce(withTags, base?.options ?? innerOptions),
      reshape: (entry, errors) =>
        changes.reduce(
          (changed, change) => reshape(kind, changed, change, errors),
          base?.reshape(entry, errors) ?? entry,
        ),
    };
  }

  #changesOf(
    kind: DefinitionList,
    name: string,
    { tags = [], annotations = {} }: GuardedOptions,
  ): AnyChange[] {
    const { every } = this.#changes;
    const general = every?.({ kind: kindOf[kind], name, tags, annotations });
    if (general !== undefined)
      // One change may be meant for definitions of all kinds. Events have no title.
      this.#checkChange(kind, `every(${name})`, general, kind === 'events' ? shared : undefined);
    const named = this.#changes[kind] ?? {};
    const own = Object.hasOwn(named, name) ? named[name] : undefined;
    return [general, own].filter((change) => change !== undefined);
  }

  #check(kind: DefinitionList, changes: object): void {
    for (const [name, change] of Object.entries(changes)) this.#checkChange(kind, `${kind}.${name}`, change);
  }

  #checkChange(...[kind, path, change, table = tables[kind]]: CheckedChange): void {
    if (typeof change !== 'object' || change === null)
      throw new TypeError(`transform: "${path}" must be an object of changes, such as { hidden: true }`);
    const [mistake] = optionMistakes('', change, table, { foreign, path: `${path}.` });
    if (mistake !== undefined) throw new TypeError(`transform: ${mistake}`);
  }
}

type CheckedChange = [kind: DefinitionList, path: string, change: unknown, table?: AnyTable | undefined];

function reshape(
  ...[kind, entry, change, errors]: [DefinitionList, Guarded, AnyChange, ToolErrors]
): Guarded {
  const { name, uri } = entry as CompiledTool & CompiledResource;
  return naming(kind, name ?? uri, () => {
    if (kind === 'tools') return reshapeTool(entry as CompiledTool, change as ToolChange, errors);
    if (kind === 'prompts') return reshapePrompt(entry as CompiledPrompt, change as PromptChange, errors);
    if (kind === 'events') return reshapeEvent(entry as CompiledEvent, change, errors);
    return reshapeResource(entry as CompiledResource, change, errors);
  });
}

/** Names the definition in the mistakes that are found in its changes. */
function naming<T>(kind: DefinitionList, name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new DefinitionError([`${kindOf[kind]} "${name}": ${(error as Error).message}`]);
  }
}

function checkNewName(kind: DefinitionList, name: string, newName: string): void {
  if (kind === 'tools') checkToolName(newName);
  else if (kind === 'events') checkEventName(newName);
  else if (newName === '') throw new TypeError('a new name must not be empty');
  else if (kind === 'resources' && (isTemplate(name) || isTemplate(newName)))
    throw new TypeError(
      `the URIs of the template "${name}" cannot be changed. Mount its server with a prefix instead.`,
    );
  else if (kind === 'resources' && !URL.canParse(newName))
    throw new TypeError(`the new URI "${newName}" must be absolute, such as "config://app"`);
}

function last<K extends keyof AnyChange>(changes: readonly AnyChange[], key: K): AnyChange[K] | undefined {
  return changes.findLast((change) => change[key] !== undefined)?.[key];
}

/** The new names of definitions. */
class RenamedDefinitions implements Names {
  readonly #outer = new Map<string, string>();
  readonly #inner = new Map<string, string>();

  rename(kind: DefinitionList, name: string, newName: string): void {
    this.#outer.set(`${kind} ${name}`, newName);
    this.#inner.set(`${kind} ${newName}`, name);
  }

  readonly outer = (kind: DefinitionList, name: string): string => this.#outer.get(`${kind} ${name}`) ?? name;
  readonly inner = (kind: DefinitionList, name: string): string => this.#inner.get(`${kind} ${name}`) ?? name;
}
