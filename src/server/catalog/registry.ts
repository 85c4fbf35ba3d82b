// The definitions of a server, with their lists and the capabilities that follow from them.

import { type Outcome, withPrint } from '../../protocol/call.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Implementation } from '../../protocol/model/model.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { changeEvents } from '../../protocol/telemetry/tracing.js';
import type { Topic } from '../../state/topic.js';
import type { CompiledAccess } from '../access/access.js';
import type { Gate } from '../access/gate.js';
import type { Guarded } from '../access/views.js';
import type { ServerSettings } from '../define/definition-tables.js';
import type { TemplateValues } from '../define/template-values.js';
import type { Complete } from '../results/results.js';
import { type Announcement, type ChangeMessage, changeOf } from '../state/changes.js';
import type { RelayEvent } from '../state/emitting.js';
import { capabilitiesOf } from './capabilities.js';
import { Catalog } from './catalog.js';
import { type CompiledDefinitions, DefinitionError } from './compile.js';
import type { CompiledEvent } from './events.js';
import type { CompiledPrompt } from './prompts.js';
import type { CompiledResource, CompiledTemplate } from './resources.js';
import type { CompiledTool, ToolFront } from './tools.js';

/** A resource or a template that has a URI, with the variables of the template. */
export interface ResourceMatch {
  readonly uri: string;
  readonly source: CompiledResource | CompiledTemplate;
  readonly values: TemplateValues;
}

/** The number of tools that a process describes to operators. */
const MAX_DESCRIBED = 1000;

const noValues: TemplateValues = Object.freeze({});

/** The kinds of definitions that have a list. */
export type DefinitionList = 'tools' | 'resources' | 'prompts' | 'events';

/** A server that this one is mounted in. */
export interface RegistryFollower {
  /** Called with each definition. Throws if it cannot be mounted. */
  readonly added: (kind: DefinitionList, name: string, entry: Guarded) => void;
  readonly removed: (entry: Guarded) => void;
  /** Called with each event that the server emits. Undefined if the type is not mounted. */
  readonly emitted: (...event: Parameters<RelayEvent>) => Promise<unknown> | undefined;
  /** Whether clients may know the lists of the server. */
  readonly isKnown: () => boolean;
}

/** The kinds of changes. */
export const allKinds: readonly Announcement['kind'][] = [
  'tools',
  'prompts',
  'resources',
  'events',
  'resource',
];

/** The parts of a `Registry`. */
export interface RegistryParts {
  readonly compiled: CompiledDefinitions;
  readonly complete: Complete;
  readonly changes: Topic<ChangeMessage>;
  readonly gate: Gate;
  readonly front?: ToolFront | undefined;
}

/** The definitions of a server with their lists, and the kinds of changes that the server announces. */
export class Registry {
  readonly tools: Catalog<CompiledTool>;
  /** The tools that clients list: all of them, unless there is a front. */
  readonly listedTools: Catalog<CompiledTool>;
  readonly resources: Catalog<CompiledResource>;
  readonly templates: Catalog<CompiledTemplate>;
  readonly prompts: Catalog<CompiledPrompt>;
  readonly events: Catalog<CompiledEvent>;
  readonly changes: Topic<ChangeMessage>;
  readonly complete: Complete;
  readonly pageSize: number;
  /** Whether the server has received its first call. A definition that is added after that is announced as a change. */
  inUse = false;
  /** Whether clients may subscribe to events. It stays so when the last type is removed. */
  offersEvents: boolean;
  /** Whether a resource has, or had, `onSubscribe` or `onUnsubscribe`. */
  hasHooks = false;
  /** Whether a tool returns, or returned, handles. */
  hasHandles = false;
  /** Whether a resource belongs, or belonged, to a mounted server that has the option `user`. */
  mountsUsers = false;
  readonly #info: Implementation;
  readonly #options: ServerSettings;
  readonly #announcedKinds: Set<Announcement['kind']>;
  readonly #methods: readonly Guarded[];
  readonly #followers = new Set<RegistryFollower>();
  /** Keeps the change of a resource as an event. Called if there is, or was, a type of such events. */
  keepChange: ((message: ChangeMessage) => Promise<void>) | undefined;
  #keepsChanges = false;
  readonly #front: ToolFront | undefined;
  #discoverOutcome: Outcome | undefined;

  constructor(info: Implementation, options: ServerSettings, parts: RegistryParts) {
    const { compiled, complete, changes: topic, gate, front } = parts;
    const { pageSize, listTtlMs, changes, bus } = options;
    this.pageSize = pageSize;
    this.#info = info;
    this.#options = options;
    this.#announcedKinds = new Set(changes === true || bus !== undefined ? allKinds : changes);
    this.changes = topic;
    // A kind of changes that another process announces counts as declared here, too.
    topic.subscribe({ message: (message) => this.declare(changeOf(message).kind), gap: () => undefined });
    this.complete = complete;
    this.#methods = [...compiled.methods.values()];
    const shared = { pageSize, hints: { ttlMs: listTtlMs, cacheScope: 'public' }, complete, gate };
    const list = (entry: { readonly listed: object }): object => entry.listed;
    this.tools = new Catalog<CompiledTool>({ ...shared, field: 'tools', list });
    this.#front = front;
    this.listedTools =
      front === undefined ? this.tools : new Catalog<CompiledTool>({ ...shared, field: 'tools', list });
    this.resources = new Catalog<CompiledResource>({ ...shared, field: 'resources', list });
    this.templates = new Catalog<CompiledTemplate>({ ...shared, field: 'resourceTemplates', list });
    this.prompts = new Catalog<CompiledPrompt>({ ...shared, field: 'prompts', list });
    this.events = new Catalog<CompiledEvent>({ ...shared, hints: {}, field: 'events', list });
    this.offersEvents = options.events !== undefined;
    for (const [name, entry] of front?.tools ?? []) this.add('tools', name, entry);
    for (const [name, entry] of compiled.tools) this.add('tools', name, entry);
    for (const [name, entry] of compiled.resources) this.add('resources', name, entry);
    for (const [name, entry] of compiled.prompts) this.add('prompts', name, entry);
    for (const [name, entry] of compiled.events) this.add('events', name, entry);
  }

  /**
   * Adds a definition. Returns a registration that can remove it. One that follows a mounted server is announced when that server
   * announces it.
   */
  add(kind: DefinitionList, name: string, entry: Guarded, isFollowing = false): Registration {
    const catalog = (kind === 'resources' && 'template' in entry
      ? this.templates
      : this[kind]) as unknown as Catalog<Guarded>;
    if (catalog.has(name))
      throw new DefinitionError([
        `"${name}" is defined twice; remove the first definition before adding another`,
      ]);
    this.#checkShape(name, entry);
    checkMigration(name, entry as Partial<CompiledTool>);
    // A server that this one is mounted in may refuse the name.
    for (const follower of this.#followers) follower.added(kind, name, entry);
    catalog.add(name, entry);
    const isListed = kind === 'tools' && this.#front?.lists(name) === true;
    if (isListed) this.listedTools.add(name, entry as CompiledTool);
    if ((entry as Partial<CompiledResource>).hooks !== undefined) {
      this.hasHooks = true;
      this.#announcedKinds.add('resource');
    }
    if (kind === 'events') {
      this.offersEvents = true;
      this.#keepsChanges ||= (entry as CompiledEvent).resource !== undefined;
    } else if ((entry as Partial<CompiledResource>).mounted?.home.hasUser) this.mountsUsers = true;
    if (kind === 'tools') this.hasHandles ||= returnsHandle(entry as CompiledTool);
    this.#onChange(kind, name, entry, isFollowing);
    return {
      remove: () => {
        if (!catalog.remove(name, entry)) return;
        if (isListed) this.listedTools.remove(name, entry as CompiledTool);
        for (const follower of this.#followers) follower.removed(entry);
        this.#onChange(kind, name, entry, isFollowing);
      },
    };
  }

  /** Shows a server that this one is mounted in all definitions, now and later. Returns a function that ends that. */
  follow(follower: RegistryFollower): () => void {
    const { resources, templates, prompts, events } = this;
    for (const [name, entry] of this.searchableTools()) follower.added('tools', name, entry);
    for (const [name, entry] of [...resources.all(), ...templates.all()])
      follower.added('resources', name, entry);
    for (const [name, entry] of prompts.all()) follower.added('prompts', name, entry);
    for (const [name, entry] of events.all()) follower.added('events', name, entry);
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /** Tells the servers that this one is mounted in of an event. Each promise resolves when one of them keeps it. */
  relay(...event: Parameters<RelayEvent>): readonly Promise<unknown>[] {
    return [...this.#followers].flatMap((follower) => follower.emitted(...event) ?? []);
  }

  /** The tools that can be found: all but those of the front. */
  searchableTools(): readonly (readonly [name: string, tool: CompiledTool])[] {
    return this.tools.all().filter(([name]) => !this.#front?.tools.has(name));
  }

  /** Whether clients may know the lists of this server, or of one that it is mounted in. */
  isKnown(): boolean {
    return this.inUse || [...this.#followers].some((follower) => follower.isKnown());
  }

  #checkShape(name: string, entry: object): void {
    if (!('shape' in entry)) return;
    for (const other of this.templates.values()) {
      if (other.shape === entry.shape)
        throw new DefinitionError([
          `resource "${name}" matches the same URIs as "${other.uri}", which would always be read instead; remove one of them`,
        ]);
    }
  }

  // The change of an entry with rules is announced with its name, so that only callers that see the entry are told.
  #onChange(kind: DefinitionList, name: string, { access }: Guarded, isFollowing = false): void {
    this.#discoverOutcome = undefined;
    if (!isFollowing && this.isKnown()) void this.publish(access === undefined ? { kind } : { kind, name });
  }

  /** The rules of a definition, even of one that was removed; undefined if there are none, or the definition is unknown. */
  accessOf(kind: DefinitionList, name: string): CompiledAccess | undefined {
    const access = this[kind].accessOf(name);
    return kind === 'resources' ? (access ?? this.templates.accessOf(name)) : access;
  }

  /** The resource, or the first template, that has a URI. */
  findResource(uri: string): ResourceMatch | undefined {
    const exact = this.resources.get(uri);
    if (exact !== undefined) return { uri, source: exact, values: noValues };
    for (const source of this.templates.values()) {
      const values = source.template.match(uri);
      if (values !== undefined && !source.isHidden?.(uri))
        return { uri, source, values: values as TemplateValues };
    }
    return undefined;
  }

  /** Whether reading a resource may depend on the caller. */
  get guardsResources(): boolean {
    return this.resources.isGuarded || this.templates.isGuarded;
  }

  /** Whether a definition or a method has rules, besides a policy. */
  get isGuarded(): boolean {
    const { tools, prompts, guardsResources } = this;
    const hasRules = ({ access }: Guarded): boolean =>
      access !== undefined && (access.scopes.length > 0 || access.allow.length > 0);
    return (
      prompts.isGuarded ||
      this.events.isGuarded ||
      guardsResources ||
      tools.versions().some(hasRules) ||
      this.#methods.some(hasRules)
    );
  }

  /** The scopes that the rules of all definitions name, sorted. */
  get scopes(): readonly string[] {
    const guarded: Iterable<Guarded>[] = [
      ...[this.tools.versions(), this.resources.values(), this.templates.values(), this.prompts.values()],
      this.events.values(),
      this.#methods,
    ];
    return [...new Set(guarded.flatMap((entries) => [...entries].flatMap(scopesOf)))].sort();
  }

  /**
   * Announces a change. The promise resolves when other processes are told, or cannot be, and the events of the change are kept; undefined
   * if there are neither. A change that another process has announced does not come here, so that it is one event.
   */
  publish(message: ChangeMessage): Promise<unknown> | undefined {
    if (changeEvents?.hasSubscribers) {
      const change = changeOf(message);
      const uri = change.kind === 'resource' ? change.uri : undefined;
      changeEvents.publish({ server: this.#info.name, kind: change.kind, uri });
    }
    const told = this.changes.publish(message);
    if (!this.#keepsChanges || changeOf(message).kind !== 'resource') return told;
    return Promise.all([told, this.keepChange?.(message)]);
  }

  /** Declares a kind of changes. From its first announcement on, a kind counts as declared. */
  declare(kind: Announcement['kind']): void {
    if (this.#announcedKinds.has(kind)) return;
    this.#announcedKinds.add(kind);
    this.#discoverOutcome = undefined;
  }

  announces(kind: Announcement['kind']): boolean {
    return this.#announcedKinds.has(kind) && (kind !== 'events' || this.offersEvents);
  }

  /** Whether the server has a list: the list has items, or its changes are announced. */
  offers(kind: Exclude<DefinitionList, 'events'>): boolean {
    const size = kind === 'resources' ? this.resources.size + this.templates.size : this[kind].size;
    return size > 0 || this.announces(kind);
  }

  offersTasks(): boolean {
    return this.tools.versions().some((tool) => tool.task !== undefined);
  }

  /** The tools that can run as tasks, each with its versions; an empty array if it has none. */
  taskVersions(): Readonly<Record<string, readonly string[]>> {
    const tools = this.tools.all().flatMap(([name, tool]) => {
      const all = tool.versions?.all ?? [tool];
      const versions = all.flatMap(({ version }) => version ?? []);
      return all.some(({ task }) => task !== undefined) ? [[name, versions] as const] : [];
    });
    return Object.fromEntries(tools.slice(0, MAX_DESCRIBED));
  }

  /** Whether the list of resources must be made for each caller. */
  listsPerCaller(): boolean {
    for (const { list } of this.templates.values()) if (list !== undefined) return true;
    return false;
  }

  offersCompletions(): boolean {
    const hasCompleters = (entry: { complete: ReadonlyMap<string, unknown> }): boolean =>
      entry.complete.size > 0;
    return [...this.prompts.values(), ...this.templates.values()].some(hasCompleters);
  }

  discover(): Outcome {
    const { instructions, listTtlMs } = this.#options;
    this.#discoverOutcome ??= withPrint(
      this.complete(
        {
          supportedVersions: modernRevisions,
          capabilities: capabilitiesOf(this, this.#options),
          ...(instructions !== undefined && { instructions }),
          ttlMs: listTtlMs,
          cacheScope: 'public',
        },
        { [SERVER_INFO]: this.#info },
      ),
    );
    return this.#discoverOutcome;
  }
}

function returnsHandle(tool: CompiledTool): boolean {
  return (tool.versions?.all ?? [tool]).some((version) => version.returnsHandle);
}

function checkMigration(name: string, { task, versions }: Partial<CompiledTool>): void {
  if (task?.migrate !== undefined && versions === undefined)
    throw new DefinitionError([
      `tool "${name}": "task.migrate" is for one of several versions; write versions({ "2.0": tool({ … }) })`,
    ]);
}

function scopesOf({ access }: Guarded): readonly string[] {
  return access?.scopes ?? [];
}

/** A definition that was added to a running server. */
export interface Registration {
  /** Removes the definition. Subscribed clients are notified. */
  readonly remove: () => void;
}
