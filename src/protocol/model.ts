import type { JsonObject } from '../jsonrpc/message.js';
import type { Annotations, ContentBlock, Icon, Role } from './content.js';

// The shapes of the newest revision. Older shapes are projections of these (see legacy/).

export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

export interface ClientCapabilities {
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  readonly roots?: JsonObject;
  readonly sampling?: { readonly context?: JsonObject; readonly tools?: JsonObject };
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject };
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

export interface ServerCapabilities {
  experimental?: Record<string, JsonObject>;
  logging?: JsonObject;
  completions?: JsonObject;
  prompts?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  tools?: { listChanged?: boolean };
  extensions?: Record<string, JsonObject>;
}

/** What a server says of itself: the result of `server/discover`. */
export interface Discovered {
  readonly supportedVersions: readonly string[];
  readonly capabilities: Readonly<ServerCapabilities>;
  readonly instructions?: string;
  readonly ttlMs?: number;
  readonly cacheScope?: CacheScope;
  /** Has the server's name and version. */
  readonly _meta?: JsonObject;
}

/** How a tool behaves, as hints for the client. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  icons?: readonly Icon[];
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
  /** Of 2025-11-25 only: not enumerable, so that other revisions do not print it. */
  execution?: { readonly taskSupport: 'optional' | 'required' };
  _meta?: JsonObject;
}

export interface ListedResource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: readonly Icon[];
  annotations?: Annotations;
  size?: number;
  _meta?: JsonObject;
}

export interface ListedTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: readonly Icon[];
  annotations?: Annotations;
  _meta?: JsonObject;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface ListedPrompt {
  name: string;
  title?: string;
  description?: string;
  icons?: readonly Icon[];
  arguments?: readonly PromptArgument[];
  _meta?: JsonObject;
}

export interface PromptMessage {
  readonly role: Role;
  readonly content: ContentBlock;
}

export type CacheScope = 'public' | 'private';

/** What a client wants to hear of on a `subscriptions/listen` stream. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: readonly string[];
  /** Of the tasks extension. */
  taskIds?: readonly string[];
}
