import type { JsonObject } from '../../jsonrpc/message.js';
import type { Annotations, ContentBlock, Icon, Role } from './content.js';

// The shapes of the newest revision. The folder `legacy` translates them to older ones.

/** The name and version of a program: a client or a server. */
export interface Implementation {
  /** The program's name, for programs. */
  readonly name: string;
  /** The program's version, in any form. */
  readonly version: string;
  /** The program's name, for people. Default: `name`. */
  readonly title?: string;
  /** A sentence about the program. */
  readonly description?: string;
  /** The program's website. */
  readonly websiteUrl?: string;
  /** Images that stand for the program. */
  readonly icons?: readonly Icon[];
}

/** The features that a client declares. A feature is declared by its presence, with an empty object if need be. */
export interface ClientCapabilities {
  /** Features outside the protocol, by name. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** The client names its open folders. */
  readonly roots?: JsonObject;
  /** The client runs a model for the server. */
  readonly sampling?: {
    /** The model can be given the context of servers (`includeContext`). */
    readonly context?: JsonObject;
    /** The model can use tools. */
    readonly tools?: JsonObject;
  };
  /** The client asks the user for input. */
  readonly elicitation?: {
    /** The user can fill in forms. */
    readonly form?: JsonObject;
    /** The user can be sent to a page. */
    readonly url?: JsonObject;
  };
  /** Extensions of the protocol, by their names, with their settings. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

/** The features that a server declares. A feature is declared by its presence, with an empty object if need be. */
export interface ServerCapabilities {
  /** Features outside the protocol, by name. */
  experimental?: Record<string, JsonObject>;
  /** The server sends log messages. */
  logging?: JsonObject;
  /** The server completes the arguments of prompts and resource templates. */
  completions?: JsonObject;
  /** The server has prompts. */
  prompts?: {
    /** The server announces changes of its list of prompts. */
    listChanged?: boolean;
  };
  /** The server has resources. */
  resources?: {
    /** The server announces changes of the contents of resources. */
    subscribe?: boolean;
    /** The server announces changes of its list of resources. */
    listChanged?: boolean;
  };
  /** The server has tools. */
  tools?: {
    /** The server announces changes of its list of tools. */
    listChanged?: boolean;
  };
  /** The server has events, as the clients of the sketch look for them; the extension is declared, too. */
  events?: {
    /** The server announces changes of its list of types of events. */
    listChanged?: boolean;
  };
  /** Extensions of the protocol, by their names, with their settings. */
  extensions?: Record<string, JsonObject>;
}

/** The server's description of itself: the result of `server/discover`. */
export interface Discovered {
  /** The protocol revisions that the server speaks. */
  readonly supportedVersions: readonly string[];
  /** The features that the server declares. */
  readonly capabilities: Readonly<ServerCapabilities>;
  /** Advice for models on how to use the server. */
  readonly instructions?: string;
  /** The time for which this result may be cached, in milliseconds. */
  readonly ttlMs?: number;
  /** Whether clients may share the cached result. */
  readonly cacheScope?: CacheScope;
  /** Metadata, with the server's name and version among it. */
  readonly _meta?: JsonObject;
}

/** The behaviour of a tool, as hints. A client must not trust those of an untrusted server. */
export interface ListedToolAnnotations {
  /** The tool's name, for people. The tool's own `title` takes precedence. */
  readonly title?: string;
  /** The tool changes nothing, so that calling it again is safe. Default: false. */
  readonly readOnlyHint?: boolean;
  /** The tool may delete or overwrite. Ignored for a read-only tool. Default: true. */
  readonly destructiveHint?: boolean;
  /** Calling the tool again with the same arguments has no further effect. Default: false. */
  readonly idempotentHint?: boolean;
  /** The tool reaches things outside the server's own domain, such as the web. Default: true. */
  readonly openWorldHint?: boolean;
}

/** A tool as the server lists it. */
export interface ListedTool {
  /** The name to call the tool by. */
  name: string;
  /** The tool's name, for people. */
  title?: string;
  /** The tool's purpose, for models and people. */
  description?: string;
  /** Images that stand for the tool. */
  icons?: readonly Icon[];
  /** The JSON Schema of the arguments. */
  inputSchema: JsonObject;
  /** The JSON Schema of the structured content of the tool's results. */
  outputSchema?: JsonObject;
  /** Hints on how the tool behaves. */
  annotations?: ListedToolAnnotations;
  /**
   * Whether the tool can run as a task, as servers of revision 2025-11-25 say it.
   */
  execution?: {
    /** `optional` lets the client choose; `required` runs the tool only as a task. */
    readonly taskSupport: 'optional' | 'required';
  };
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  _meta?: JsonObject;
}

/** A resource as the server lists it. */
export interface ListedResource {
  /** The URI to read the resource from. */
  uri: string;
  /** The resource's name, for programs. */
  name: string;
  /** The resource's name, for people. */
  title?: string;
  /** A sentence about the resource, for models and people. */
  description?: string;
  /** The MIME type of the contents. */
  mimeType?: string;
  /** Images that stand for the resource. */
  icons?: readonly Icon[];
  /** Hints on who the resource is for and how important it is. */
  annotations?: Annotations;
  /** The size of the contents in bytes, before any encoding. */
  size?: number;
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  _meta?: JsonObject;
}

/** A family of resources as the server lists it, with a URI template in place of a URI. */
export interface ListedTemplate {
  /** The URI template (RFC 6570), such as `notes://{id}`. */
  uriTemplate: string;
  /** The template's name, for programs. */
  name: string;
  /** The template's name, for people. */
  title?: string;
  /** A sentence about the resources, for models and people. */
  description?: string;
  /** The MIME type of the contents, when all resources of the template share one. */
  mimeType?: string;
  /** Images that stand for the resources. */
  icons?: readonly Icon[];
  /** Hints on who the resources are for and how important they are. */
  annotations?: Annotations;
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  _meta?: JsonObject;
}

/** An argument of a prompt as the server lists it. */
export interface PromptArgument {
  /** The argument's name, for programs. */
  readonly name: string;
  /** The argument's name, for people. */
  readonly title?: string;
  /** A sentence about the argument. */
  readonly description?: string;
  /** Whether the prompt needs the argument. Default: false. */
  readonly required?: boolean;
}

/** A prompt as the server lists it. */
export interface ListedPrompt {
  /** The name to get the prompt by. */
  name: string;
  /** The prompt's name, for people. */
  title?: string;
  /** A sentence about the prompt. */
  description?: string;
  /** Images that stand for the prompt. */
  icons?: readonly Icon[];
  /** The arguments that the prompt takes. Their values are strings. */
  arguments?: readonly PromptArgument[];
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  _meta?: JsonObject;
}

/** One message of a prompt. */
export interface PromptMessage {
  /** The speaker: `user` or `assistant`. */
  readonly role: Role;
  /** The message itself. */
  readonly content: ContentBlock;
}

/** `public` results may be shared between users; `private` ones belong to one user. */
export type CacheScope = 'public' | 'private';

/** The changes that a client wants to receive on a `subscriptions/listen` stream. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** Of the events extension. */
  eventsListChanged?: boolean;
  resourceSubscriptions?: readonly string[];
  /** Of the tasks extension. */
  taskIds?: readonly string[];
}
