// The parts of the official clients that the tests use.

export interface Transport {
  close(): Promise<void>;
  /** Set by the client that is connected. */
  onmessage?: (message: Partial<Notification>, ...more: unknown[]) => void;
  /** On stdio. */
  readonly pid?: number | null;
  /** On stdio with `stderr: 'pipe'`. */
  readonly stderr?: NodeJS.ReadableStream | null;
  /** On Streamable HTTP with sessions. */
  readonly sessionId?: string;
  terminateSession?(): Promise<void>;
  /** On HTTP with an `authProvider`. The second client also takes all parameters of the redirect. */
  finishAuth?(code: string | URLSearchParams): Promise<void>;
}

/** The part of a login that the program provides. The clients find the server, register and get tokens. */
export interface OAuthClientProvider {
  readonly redirectUrl: string;
  /** The address of the document that describes the client. */
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: Record<string, unknown>;
  clientInformation(): object | undefined;
  saveClientInformation(information: object): void;
  tokens(): OAuthTokens | undefined;
  saveTokens(tokens: OAuthTokens): void;
  redirectToAuthorization(url: URL): void;
  saveCodeVerifier(verifier: string): void;
  codeVerifier(): string;
  saveDiscoveryState(state: object): void;
  discoveryState(): object | undefined;
}

export interface OAuthTokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly scope?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  /** Client v2 caches lists and resources for as long as the server allows. */
  readonly cacheMode?: 'use' | 'refresh' | 'bypass';
}

export interface Notification {
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export interface Page {
  readonly nextCursor?: string;
}

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface Contents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface Subscription {
  close(): Promise<void>;
}

/** The members that the clients of both packages share; members of only one are optional. */
export interface Client {
  /** Called when the connection is closed. */
  onclose?: () => void;
  onerror?: (error: Error) => void;
  fallbackNotificationHandler?: (notification: Notification) => Promise<void>;
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
  getServerVersion(): { readonly name: string; readonly version: string } | undefined;
  getServerCapabilities(): Record<string, unknown> | undefined;
  getInstructions(): string | undefined;
  getNegotiatedProtocolVersion?(): string | undefined;
  ping(): Promise<unknown>;
  listTools(
    params?: { cursor?: string },
    options?: CallOptions,
  ): Promise<Page & { tools: { name: string; outputSchema?: unknown; annotations?: unknown }[] }>;
  listResources(
    params?: { cursor?: string },
    options?: CallOptions,
  ): Promise<Page & { resources: { uri: string; name: string }[] }>;
  listResourceTemplates(
    params?: { cursor?: string },
    options?: CallOptions,
  ): Promise<Page & { resourceTemplates: { uriTemplate: string }[] }>;
  listPrompts(
    params?: { cursor?: string },
    options?: CallOptions,
  ): Promise<Page & { prompts: { name: string; arguments?: unknown }[] }>;
  /** In the first client, a schema comes in between. */
  callTool(params: CallToolParams, options?: CallOptions): Promise<ToolResult>;
  callTool(params: CallToolParams, schema: undefined, options?: CallOptions): Promise<ToolResult>;
  readResource(params: { uri: string }, options?: CallOptions): Promise<{ contents: Contents[] }>;
  subscribeResource(params: { uri: string }): Promise<unknown>;
  unsubscribeResource(params: { uri: string }): Promise<unknown>;
  listen?(filter: Record<string, unknown>): Promise<Subscription>;
  getPrompt(params: {
    name: string;
    arguments?: Record<string, string>;
  }): Promise<{ messages: { role: string; content: { type: string; text?: string } }[] }>;
  complete(params: {
    ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };
    argument: { name: string; value: string };
  }): Promise<{ completion: { values: string[] } }>;
  setLoggingLevel(level: string): Promise<unknown>;
  /** The first client takes a schema that contains the method, the second one takes its name. */
  setRequestHandler(method: unknown, handler: (request: Question) => Promise<object>): void;
}

/** A question from the server. */
export interface Question {
  readonly method: string;
  readonly params?: { readonly message?: string; readonly messages?: readonly object[] };
}

interface CallToolParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}

interface Implementation {
  readonly name: string;
  readonly version: string;
}

type NewClient = new (
  info: Implementation,
  options?: {
    readonly capabilities?: Record<string, unknown>;
    readonly versionNegotiation?: { readonly mode: 'legacy' | 'auto' | { readonly pin: string } };
  },
) => Client;
type OverStdio = new (options: { command: string; args: string[]; stderr?: 'inherit' | 'pipe' }) => Transport;
type OverHttp = new (
  url: URL,
  options?: { fetch?: typeof fetch; authProvider?: OAuthClientProvider },
) => Transport;

export declare const ClientV1: NewClient;
export declare const ClientV2: NewClient;
export declare const StdioV1: OverStdio;
export declare const StdioV2: OverStdio;
export declare const HttpV1: OverHttp;
export declare const HttpV2: OverHttp;
export declare const SseV1: OverHttp;
export declare const SseV2: OverHttp;
export declare const WebSocketV1: new (url: URL) => Transport;
export declare const ElicitRequestSchema: object;
export declare const CreateMessageRequestSchema: object;
export declare const ListRootsRequestSchema: object;

export function createParser(callbacks: {
  readonly onEvent: (event: { readonly event?: string; readonly data: string; readonly id?: string }) => void;
}): { readonly feed: (text: string) => void };
