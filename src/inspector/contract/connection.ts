// A connection of the inspector, as the page sees it.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { FollowView, ReceivingView } from './events.js';
import type { Failure } from './failure.js';

/** The target as the user typed or chose it. Exactly one of `url`, `command`, `name` and `text` says where the server is. */
export interface TargetSpec {
  /** One line as typed: a URL, a file, a command line, or a pasted `mcpServers` JSON. */
  readonly text?: string;
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  /** The id of a server in `Snapshot.found`. */
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly token?: string;
  /** The caller for a server in a file: a subject, or JSON. Only a file that is started here takes one. */
  readonly as?: string;
  readonly scopes?: readonly string[];
  /** The only revision to speak. Default: the newest that both ends speak. */
  readonly revision?: string;
}

/** A server that the page offers: used before, or found in a configuration. */
export interface FoundServer {
  readonly id: string;
  readonly name: string;
  /** The URL or the command, with its secrets masked. Where two that were used before share it: the folder of each. */
  readonly address: string;
  /** Where it was found: `mcp.json`, `Cursor`, or `used before`. */
  readonly source: string;
  readonly lastUsed?: number;
  readonly lastFailure?: string;
}

/** One step of connecting. */
export interface ConnectStep {
  /** The attempt, for people, as in `POST /mcp server/discover` or `start node server.js`. */
  readonly what: string;
  readonly at: number;
  /** Undefined while it runs. */
  readonly ms?: number;
  readonly outcome: 'running' | 'ok' | 'failed';
  /** The status and the reason, as in `404, no MCP server there`. */
  readonly detail?: string;
}

export interface ConnectionView {
  readonly id: string;
  /** The URL or the command, with its secrets masked. */
  readonly address: string;
  /** The target for a command line, as in `fullmcp call <typed> …`. */
  readonly typed: string;
  /** The server's title or name, or the address until it is known. */
  readonly name: string;
  readonly status: 'connecting' | 'ready' | 'reconnecting' | 'failed' | 'closed';
  readonly steps: readonly ConnectStep[];
  readonly failure?: Failure;
  /** Whether a URL was found that was probably meant. */
  readonly suggestion?: string;
  readonly transport?: string;
  readonly revision?: string;
  /** All revisions that can be chosen. */
  readonly revisions: readonly string[];
  readonly requestedRevision?: string;
  readonly roundTripMs?: number;
  readonly connectedAt?: number;
  readonly reconnects: number;
  /** The names of the headers that were given with the target, without `authorization`. Their values stay in the process. */
  readonly headerNames?: readonly string[];
  readonly server?: {
    readonly name?: string;
    readonly title?: string;
    readonly version?: string;
    readonly capabilities: JsonObject;
    readonly instructions?: string;
  };
  readonly clientCapabilities: JsonObject;
  /** Grows when the lists may have changed: fetch them again. 0: not listed yet. */
  readonly catalogVersion: number;
  /** Whether the handlers of this server report their steps. */
  readonly seesJournal: boolean;
  readonly roots: readonly { readonly uri: string; readonly name?: string }[];
  readonly subscriptions: readonly SubscriptionView[];
  /** The types of events that are followed. */
  readonly follows: readonly FollowView[];
  /** The types of events whose webhooks the inspector receives. */
  readonly receiving: readonly ReceivingView[];
  readonly auth: AuthView;
  readonly logLevel?: string;
  /** The process, if the inspector started one. */
  readonly process?: { readonly pid?: number; readonly exit?: string };
  /** Whether the page may close this connection, or open another one: not in a mounted inspector. */
  readonly isFixed: boolean;
  /** Tasks that were started here, also on earlier visits, oldest first. The server may have forgotten them. */
  readonly knownTasks: readonly { readonly id: string; readonly tool: string; readonly at: number }[];
}

export interface SubscriptionView {
  readonly uri: string;
  readonly since: number;
  readonly updates: number;
  readonly lastUpdate?: number;
  readonly story: number;
}

/** The steps of the authorization so far. */
export interface AuthView {
  readonly state: 'none' | 'token' | 'needed' | 'logging-in' | 'logged-in' | 'failed';
  readonly hops: readonly AuthHop[];
  /** The page at which the user logs in, while `logging-in`. */
  readonly loginUrl?: string;
  readonly token?: TokenView;
}

export interface AuthHop {
  /** The name of the step, as in `resource metadata`. */
  readonly name: string;
  readonly at: number;
  readonly ms?: number;
  readonly outcome: 'ok' | 'failed' | 'waiting';
  /** What to do, if it failed. */
  readonly detail?: string;
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: JsonObject;
    readonly body?: string;
  };
  /** The reply. Secrets in it are masked. */
  readonly reply?: { readonly status: number; readonly headers: JsonObject; readonly body?: string };
}

/** A token, masked. The claims of a JWT are decoded here and never checked. */
export interface TokenView {
  /** As in `eyJh…9f2c`. */
  readonly masked: string;
  readonly expiresAt?: number;
  readonly scopes?: readonly string[];
  readonly issuer?: string;
  readonly header?: JsonObject;
  readonly claims?: JsonObject;
  readonly canRefresh: boolean;
}

/** The lists of a server, as it sent them, with what is said about them. */
export interface CatalogView {
  readonly version: number;
  readonly tools: readonly ToolView[];
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  /** The types of events. */
  readonly events: readonly JsonObject[];
  /** About how many tokens all tools take in a model's context. */
  readonly tokens: number;
  readonly findings: readonly FindingView[];
  /** Lists that could not be fetched, and why. */
  readonly failures: readonly { readonly list: string; readonly message: string }[];
}

export interface ToolView {
  /** The tool as the server sent it. */
  readonly tool: JsonObject & { readonly name: string };
  readonly tokens: number;
  readonly isReadOnly: boolean;
  readonly isDestructive: boolean;
  readonly task: 'never' | 'optional' | 'always';
  /** The UI resource of an app, if the tool has one. */
  readonly app?: string;
  /** Its last recorded scores in the evals of the project, one for each model. */
  readonly scores?: readonly ToolScoreView[];
}

interface ToolScoreView {
  readonly model: string;
  readonly passed: number;
  readonly of: number;
  /** The day of the latest run. */
  readonly day: string;
  /** Whether the definition of the tool has changed since then. */
  readonly isChanged: boolean;
}

export interface FindingView {
  readonly severity: 'error' | 'warning' | 'advice';
  readonly rule: string;
  readonly kind: 'server' | 'tool' | 'resource' | 'template' | 'prompt';
  /** The name, or the URI. */
  readonly name: string;
  /** The place in the input schema, such as `items[].price`. */
  readonly path?: string;
  readonly message: string;
  readonly fix?: string;
}
