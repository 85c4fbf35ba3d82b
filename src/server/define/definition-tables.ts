// The options of each kind of definition, and hints for the wrong ones. The compiler reports an option that is missing here.

import { type ForeignNames, type UnknownKey, unknownKeys } from '../../protocol/checks/known-keys.js';
import {
  type AnyTable,
  fillDefaults,
  type OptionTable,
  optionMistakes,
  type WithDefaults,
} from '../../protocol/checks/options.js';
import { codeTable } from '../../protocol/code/code-options.js';
import type { Annotations } from '../../protocol/model/content.js';
import { searchTable } from '../../protocol/model/search/options.js';
import type { DeprecationMode } from '../state/deprecations.js';
import { idempotencyTable } from '../state/idempotency-options.js';
import type { AccessOptions } from './access.js';
import type { EventDefinition, ResourceEventDefinition } from './event.js';
import { type EventRetention, retentionTable } from './event-retention.js';
import { fallbacksTable } from './fallback-options.js';
import type { AnyServerOptions, AskingOptions, Method, ServerOptions } from './options.js';
import type { PromptOptions } from './prompt.js';
import type { ResourceOptions } from './resource.js';
import { scheduleTable } from './schedule-options.js';
import { type TasksOptions, tasksTable, taskTable } from './task-options.js';
import { annotationRow, type ToolOptions } from './tool.js';
import { webhookTable } from './webhook-options.js';

/** Names that other libraries use for the parts of a rule of access. */
export const foreignRuleNames: ForeignNames = {
  scope: 'scopes',
  requiredScopes: 'scopes',
  permissions: 'scopes',
  auth: 'allow',
  authorize: 'allow',
  canAccess: 'allow',
};

// Where a definition is compiled, `any` is checked further.
const info = {
  title: 'string',
  description: 'string',
  icons: 'any',
  tags: 'any',
  meta: 'any',
  scopes: 'any',
  allow: 'any',
} as const;

const idempotency = { is: ['boolean', 'object'], options: idempotencyTable } as const;

const tool = {
  ...info,
  input: 'any',
  output: 'any',
  handle: 'boolean',
  annotations: {
    ...annotationRow,
    foreign: { ...annotationRow.foreign, title: 'Put "title" beside "annotations".' },
  },
  timeoutMs: 'timer',
  task: { is: 'object', oneOf: ['optional', 'required'], options: taskTable },
  idempotency,
  use: 'any',
  run: 'any',
  load: 'any',
} as const satisfies OptionTable<ToolOptions & { run: unknown; load: unknown }>;

const annotations = {
  audience: 'any',
  priority: 'any',
  lastModified: 'any',
} as const satisfies OptionTable<Annotations>;

const resource = {
  ...info,
  name: 'string',
  mimeType: 'string',
  annotations: { is: 'object', options: annotations },
  size: 'any',
  list: 'any',
  onSubscribe: 'any',
  onUnsubscribe: 'any',
  ttlMs: { is: 'count', min: 0 },
  cacheScope: { oneOf: ['public', 'private'] },
  complete: 'any',
  read: 'any',
} as const satisfies OptionTable<ResourceOptions & { read: unknown }>;

const prompt = {
  ...info,
  args: 'any',
  complete: 'any',
  run: 'any',
} as const satisfies OptionTable<PromptOptions & { run: unknown }>;

const method = { params: 'any', run: 'any' } as const satisfies OptionTable<Method>;

const event = {
  description: 'string',
  tags: 'any',
  meta: 'any',
  scopes: 'any',
  allow: 'any',
  input: 'any',
  payload: 'any',
  resource: 'string',
  schedule: { is: 'object', options: scheduleTable },
  delivery: 'any',
  match: 'any',
} as const satisfies OptionTable<EventDefinition & ResourceEventDefinition>;

const access = {
  scopes: 'any',
  allow: 'any',
  tags: 'any',
  policy: 'any',
} as const satisfies OptionTable<AccessOptions>;

const asking = {
  maxAgeMs: { is: 'count', default: 3_600_000 },
  maxBytes: { is: 'count', default: 65_536 },
  once: { is: 'boolean', default: false },
} as const satisfies OptionTable<AskingOptions>;

const server = {
  name: 'any',
  version: 'any',
  title: 'string',
  description: 'string',
  websiteUrl: 'string',
  icons: 'any',
  instructions: 'string',
  tools: 'any',
  resources: 'any',
  prompts: 'any',
  events: 'any',
  eventRetention: { is: 'object', options: retentionTable, default: {} },
  mount: 'any',
  search: { is: ['boolean', 'object'], options: searchTable },
  code: { is: 'object', options: codeTable },
  methods: 'any',
  access: { is: 'any', options: access, foreign: foreignRuleNames },
  use: 'any',
  lifespan: 'function',
  user: 'function',
  onError: 'function',
  changes: 'any',
  bus: 'any',
  cluster: 'any',
  auth: 'any',
  secret: 'any',
  asking: { is: 'object', options: asking, default: {} },
  webhooks: { is: 'object', options: webhookTable },
  tasks: { is: 'object', options: tasksTable, default: {} },
  fallbacks: { is: 'object', options: fallbacksTable },
  store: 'any',
  idempotency,
  pageSize: { is: 'count', default: 500 },
  listTtlMs: { is: 'count', min: 0, default: 60_000 },
  timeoutMs: 'timer',
  compatibility: 'any',
  deprecations: { oneOf: ['warn', 'ignore', 'error'], default: 'warn' },
  drafts: 'boolean',
  logger: 'function',
  experimental: 'any',
  extensions: 'any',
} as const satisfies OptionTable<ServerOptions<never, never, never>>;

interface ServerDefaults {
  readonly pageSize: number;
  readonly listTtlMs: number;
  readonly deprecations: DeprecationMode;
  readonly asking: Required<AskingOptions>;
  readonly tasks: Required<TasksOptions>;
  readonly eventRetention: WithDefaults<EventRetention, 'forMs'>;
}

/** The options of a server with their defaults. */
export type ServerSettings = Omit<AnyServerOptions, keyof ServerDefaults> & ServerDefaults;

/** Fills in the defaults of a server. */
export function withServerDefaults(options: AnyServerOptions): ServerSettings {
  return fillDefaults(options as ServerOptions<never, never, never>, server) as ServerSettings;
}

/** The hint for `name`: the key of a definition is its name, and a second name could differ from it. */
const nameIsTheKey = (kind: 'tool' | 'prompt' | 'event'): string =>
  `The name is the key of the definition: { my_name: ${kind}({ … }) }.`;

/** The kinds of definitions. */
export type DefinitionKind = 'tool' | 'resource' | 'prompt' | 'method' | 'event' | 'server';

interface Kind {
  readonly table: AnyTable;
  readonly foreign: ForeignNames;
}

const handlerNames = { handler: 'run', execute: 'run', call: 'run', callback: 'run', fn: 'run' };

const kinds: Readonly<Record<DefinitionKind, Kind>> = {
  tool: {
    table: tool,
    foreign: {
      ...foreignRuleNames,
      ...handlerNames,
      inputSchema: 'input',
      parameters: 'input',
      paramsSchema: 'input',
      args: 'input',
      schema: 'input',
      outputSchema: 'output',
      _meta: 'meta',
      timeout: 'timeoutMs',
      middleware: 'use',
      name: nameIsTheKey('tool'),
      readOnlyHint: 'Write annotations: { readOnly: … }.',
    },
  },
  resource: {
    table: resource,
    foreign: {
      ...foreignRuleNames,
      run: 'read',
      load: 'read',
      handler: 'read',
      readCallback: 'read',
      _meta: 'meta',
      uri: 'The URI is the key of the definition: { "config://app": resource({ … }) }.',
      uriTemplate: 'The template is the key of the definition: { "users://{id}": resource({ … }) }.',
    },
  },
  prompt: {
    table: prompt,
    foreign: {
      ...foreignRuleNames,
      ...handlerNames,
      get: 'run',
      load: 'run',
      arguments: 'args',
      argsSchema: 'args',
      input: 'args',
      inputSchema: 'args',
      _meta: 'meta',
      name: nameIsTheKey('prompt'),
    },
  },
  method: {
    table: method,
    foreign: { ...handlerNames, input: 'params', inputSchema: 'params', paramsSchema: 'params' },
  },
  event: {
    table: event,
    foreign: {
      ...foreignRuleNames,
      inputSchema: 'input',
      arguments: 'input',
      args: 'input',
      payloadSchema: 'payload',
      schema: 'payload',
      data: 'payload',
      filter: 'match',
      modes: 'delivery',
      uri: 'resource',
      template: 'resource',
      _meta: 'meta',
      name: nameIsTheKey('event'),
      title: 'Events have no title on the wire. Put it into the description.',
    },
  },
  server: {
    table: server,
    foreign: {
      authorize: 'Write access: { allow: (auth) => … }.',
      scopes: 'Write access: { scopes: […] }.',
      middleware: 'use',
      log: 'logger',
      context: 'user',
      timeout: 'timeoutMs',
      capabilities:
        'The capabilities follow from the definitions: leave them out. `experimental` declares others.',
    },
  },
};

/** The keys of a definition. */
export function definitionKeys(kind: DefinitionKind): readonly string[] {
  return Object.keys(kinds[kind].table);
}

/** The result of checking the keys of a definition. */
export interface KeyCheck<T> {
  readonly problems: readonly string[];
  /** The definition as it was probably meant, so that its other mistakes are found as well. */
  readonly definition: T;
}

/** Finds the unknown and the wrong options of a definition. */
export function checkKeys<T extends object>(kind: DefinitionKind, definition: T): KeyCheck<T> {
  const { table, foreign } = kinds[kind];
  const problems = optionMistakes('', definition, table, { foreign });
  if (problems.length === 0) return { problems, definition };
  return { problems, definition: correct(definition, unknownKeys(definition, table, foreign)) };
}

function correct<T extends object>(definition: T, unknown: readonly UnknownKey[]): T {
  const corrected = { ...definition } as Record<string, unknown>;
  for (const { key, suggestion: name } of unknown) {
    if (name !== undefined && corrected[name] === undefined) corrected[name] = corrected[key];
    delete corrected[key];
  }
  return corrected as T;
}
