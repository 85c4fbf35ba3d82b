// The part of the AI SDK's types that the tests use.

export interface StoredSubscription {
  readonly key: string;
  readonly id?: string;
  readonly name: string;
  readonly delivery: { readonly url: string; readonly secret: string };
  readonly refreshBefore?: string | null;
  readonly cursor: string | null;
  readonly status: 'pending' | 'active';
}

export interface SubscriptionStore {
  get(key: string): Promise<StoredSubscription | undefined>;
  getById(id: string): Promise<StoredSubscription | undefined>;
  set(subscription: StoredSubscription): Promise<void>;
  update(key: string, patch: Partial<StoredSubscription>): Promise<void>;
  delete(key: string): Promise<void>;
}

interface Subscribed {
  readonly id: string;
  readonly refreshBefore: string | null;
  readonly cursor: string | null;
  readonly truncated: boolean;
}

export interface AiSdkClient {
  readonly experimental_events: {
    list(): Promise<{
      readonly events: readonly { readonly name: string; readonly delivery: readonly string[] }[];
    }>;
    subscribe(options: {
      readonly name: string;
      readonly arguments?: object;
      readonly delivery: {
        readonly mode: 'webhook';
        readonly url: string;
        readonly allowInsecureLocalhost: boolean;
      };
      readonly ttlMs?: number | null;
    }): Promise<Subscribed>;
    refresh(options: { readonly id: string }): Promise<Subscribed>;
    unsubscribe(options: { readonly id: string }): Promise<void>;
  };
  close(): Promise<void>;
}

export function createMCPClient(config: {
  readonly transport: {
    readonly type: 'http';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly fetch?: typeof fetch;
  };
  readonly experimental_events: { readonly store: SubscriptionStore };
}): Promise<AiSdkClient>;

export function createMCPEventWebhook(options: {
  readonly store: SubscriptionStore;
  readonly onEvent: (args: {
    readonly subscription: { readonly id: string };
    readonly event: { readonly eventId: string; readonly data: Readonly<Record<string, unknown>> };
  }) => void;
  readonly onTerminated?: (args: {
    readonly termination: { readonly error: { readonly code: number } };
  }) => void;
  readonly onError?: (error: unknown) => void;
}): (request: Request) => Promise<Response>;
