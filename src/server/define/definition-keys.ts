// The keys that each definition may have, and hints for the wrong ones. The compiler reports an option that is missing here.

import {
  type ForeignNames,
  type KeysOf,
  type UnknownKey,
  unknownKeys,
} from '../../protocol/checks/known-keys.js';
import type { Annotations } from '../../protocol/model/content.js';
import { searchKeys } from '../../protocol/model/search/options.js';
import type { IdempotencyOptions } from '../state/idempotency-options.js';
import type { AccessOptions } from './access.js';
import type { AskingOptions, Method, ServerOptions } from './options.js';
import type { PromptOptions } from './prompt.js';
import type { ResourceOptions } from './resource.js';
import type { TaskOptions, TasksOptions } from './task-options.js';
import type { ToolAnnotations, ToolOptions } from './tool.js';

const infoKeys = {
  title: true,
  description: true,
  icons: true,
  tags: true,
  meta: true,
  scopes: true,
  allow: true,
} as const;

const tool = {
  ...infoKeys,
  input: true,
  output: true,
  annotations: true,
  timeoutMs: true,
  task: true,
  idempotency: true,
  use: true,
  run: true,
  load: true,
} satisfies KeysOf<ToolOptions & { run: unknown; load: unknown }>;

const resource = {
  ...infoKeys,
  name: true,
  mimeType: true,
  annotations: true,
  size: true,
  list: true,
  onSubscribe: true,
  onUnsubscribe: true,
  ttlMs: true,
  cacheScope: true,
  complete: true,
  read: true,
} satisfies KeysOf<ResourceOptions & { read: unknown }>;

const prompt = {
  ...infoKeys,
  args: true,
  complete: true,
  run: true,
} satisfies KeysOf<PromptOptions & { run: unknown }>;

const method = { params: true, run: true } satisfies KeysOf<Method>;

const server = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
  instructions: true,
  tools: true,
  resources: true,
  prompts: true,
  mount: true,
  search: true,
  methods: true,
  access: true,
  use: true,
  lifespan: true,
  user: true,
  onError: true,
  changes: true,
  bus: true,
  cluster: true,
  auth: true,
  secret: true,
  asking: true,
  tasks: true,
  store: true,
  idempotency: true,
  pageSize: true,
  listTtlMs: true,
  timeoutMs: true,
  compatibility: true,
  deprecations: true,
  drafts: true,
  logger: true,
  experimental: true,
  extensions: true,
} satisfies KeysOf<ServerOptions<never, never, never>>;

const behaviour = {
  readOnly: true,
  destructive: true,
  idempotent: true,
  openWorld: true,
} satisfies KeysOf<ToolAnnotations>;

const annotations = { audience: true, priority: true, lastModified: true } satisfies KeysOf<Annotations>;
const task = { support: true, start: true, ttlMs: true, pollIntervalMs: true } satisfies KeysOf<TaskOptions>;
const tasks = {
  ttlMs: true,
  pollIntervalMs: true,
  maxTasks: true,
  maxTasksPerCaller: true,
  maxBytesPerCaller: true,
  maxTaskBytes: true,
  maxAnswerBytes: true,
  maxRunning: true,
  parkMs: true,
  leaseMs: true,
} satisfies KeysOf<TasksOptions>;
const asking = { maxAgeMs: true, maxBytes: true, once: true } satisfies KeysOf<AskingOptions>;
const access = { scopes: true, allow: true, tags: true, policy: true } satisfies KeysOf<AccessOptions>;
const idempotency = { windowMs: true } satisfies KeysOf<IdempotencyOptions>;

/** The hint for `name`: the key of a definition is its name, and a second name could differ from it. */
const nameIsTheKey = (kind: 'tool' | 'prompt'): string =>
  `The name is the key of the definition: { my_name: ${kind}({ … }) }.`;

/** The kinds of definitions. */
export type DefinitionKind = 'tool' | 'resource' | 'prompt' | 'method' | 'server';

interface Kind {
  readonly keys: Readonly<Record<string, true>>;
  readonly foreign: ForeignNames;
  /** The keys whose value is itself an object of options. */
  readonly inner: Readonly<
    Record<string, { readonly keys: Readonly<Record<string, true>>; readonly foreign?: ForeignNames }>
  >;
}

/** Names that other libraries use for the parts of a rule of access. */
export const foreignRuleNames: ForeignNames = {
  scope: 'scopes',
  requiredScopes: 'scopes',
  permissions: 'scopes',
  auth: 'allow',
  authorize: 'allow',
  canAccess: 'allow',
};

const handlerNames = { handler: 'run', execute: 'run', call: 'run', callback: 'run', fn: 'run' };

const kinds: Readonly<Record<DefinitionKind, Kind>> = {
  tool: {
    keys: tool,
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
    inner: {
      annotations: {
        keys: behaviour,
        foreign: {
          readOnlyHint: 'readOnly',
          destructiveHint: 'destructive',
          idempotentHint: 'idempotent',
          openWorldHint: 'openWorld',
          title: 'Put "title" beside "annotations".',
        },
      },
      task: { keys: task },
      idempotency: { keys: idempotency },
    },
  },
  resource: {
    keys: resource,
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
    inner: { annotations: { keys: annotations } },
  },
  prompt: {
    keys: prompt,
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
    inner: {},
  },
  method: {
    keys: method,
    foreign: { ...handlerNames, input: 'params', inputSchema: 'params', paramsSchema: 'params' },
    inner: {},
  },
  server: {
    keys: server,
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
    inner: {
      access: { keys: access, foreign: foreignRuleNames },
      asking: { keys: asking },
      tasks: { keys: tasks },
      search: { keys: searchKeys },
      idempotency: { keys: idempotency },
    },
  },
};

/** The keys of a definition. */
export function definitionKeys(kind: DefinitionKind): readonly string[] {
  return Object.keys(kinds[kind].keys);
}

/** The result of checking the keys of a definition. */
export interface KeyCheck<T> {
  readonly problems: readonly string[];
  /** The definition as it was probably meant, so that its other mistakes are found as well. */
  readonly definition: T;
}

/** Finds the unknown keys of a definition. */
export function checkKeys<T extends object>(kind: DefinitionKind, definition: T): KeyCheck<T> {
  const { keys, foreign, inner } = kinds[kind];
  const unknown = unknownKeys(definition, keys, foreign);
  const problems = unknown.map((entry) => problem(entry, ''));
  for (const [key, table] of Object.entries(inner)) {
    const value = (definition as Readonly<Record<string, unknown>>)[key];
    if (typeof value !== 'object' || value === null) continue;
    problems.push(...unknownKeys(value, table.keys, table.foreign).map((entry) => problem(entry, `${key}.`)));
  }
  return { problems, definition: unknown.length === 0 ? definition : correct(definition, unknown) };
}

function problem({ key, hint }: UnknownKey, path: string): string {
  return `"${path}${key}" is unknown. ${hint}`;
}

function correct<T extends object>(definition: T, unknown: readonly UnknownKey[]): T {
  const corrected = { ...definition } as Record<string, unknown>;
  for (const { key, suggestion: name } of unknown) {
    if (name !== undefined && corrected[name] === undefined) corrected[name] = corrected[key];
    delete corrected[key];
  }
  return corrected as T;
}
