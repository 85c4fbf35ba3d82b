// The parts of the NATS client that are used, in types of our own: those of its packages do not compile in strict projects.

/** The headers of a message. */
export interface NatsHeaders {
  /** Reads a header, by its exact name or by any spelling of it. */
  get(name: string, match?: 'exact' | 'insensitive'): string;
  set(name: string, value: string): void;
  has(name: string): boolean;
  keys(): readonly string[];
  /** The status of a message that the server itself sent, such as 503; 0 for others. */
  readonly code: number;
}

/** A message that arrived. */
export interface NatsMessage {
  readonly subject: string;
  readonly reply?: string;
  readonly data: Uint8Array;
  readonly headers?: NatsHeaders;
}

/** A subscription that stands until it is ended. */
export interface NatsSubscription {
  /** Ends the subscription at once. */
  unsubscribe(): void;
  /** Ends the subscription when the messages that have arrived were handled. */
  drain(): Promise<void>;
}

interface NatsSubscribeOptions {
  readonly queue?: string;
  readonly callback: (error: Error | null, message: NatsMessage) => void;
}

interface NatsPublishOptions {
  readonly reply?: string;
  readonly headers?: NatsHeaders;
}

/** An open connection, as `connect` of `@nats-io/transport-node` returns it. */
export interface NatsConnectionLike {
  /** The facts about the server, once there is a connection. */
  readonly info?:
    | {
        /** The version of the server. */
        readonly version: string;
        /** The largest message that the server accepts, in bytes. */
        readonly max_payload: number;
        /** Whether JetStream is enabled. */
        readonly jetstream?: boolean | undefined;
      }
    | undefined;
  /** Sends a message. */
  publish(subject: string, payload?: Uint8Array | string, options?: object): void;
  /** Receives the messages of a subject. */
  subscribe(subject: string, options: object): NatsSubscription;
  /** Resolves when the server has received everything that was sent. */
  flush(): Promise<void>;
  /** Closes the connection. */
  close(): Promise<void>;
  /** Iterates over the changes of the connection. */
  status(): AsyncIterable<{
    /** The kind of change, such as `reconnect`. */
    readonly type: string;
  }>;
  /** The address of the server. */
  getServer(): string;
}

/** The connection with the options that its methods take. */
export interface NatsConnection extends NatsConnectionLike {
  publish(subject: string, payload?: Uint8Array | string, options?: NatsPublishOptions): void;
  subscribe(subject: string, options: NatsSubscribeOptions): NatsSubscription;
}

/** The package `@nats-io/transport-node`. */
export interface NatsTransport {
  connect(options: object): Promise<NatsConnection>;
  headers(): NatsHeaders;
  credsAuthenticator(credentials: Uint8Array): NatsAuthenticator;
  createInbox(prefix?: string): string;
}

/** A function that answers the challenge of a server. */
export type NatsAuthenticator = (nonce?: string) => unknown;

/** The settings of TLS that the client of NATS takes. */
export interface NatsTls {
  /** Whether TLS begins before the server sends its facts. */
  readonly handshakeFirst?: boolean;
  /** The file with the certificate of the client. */
  readonly certFile?: string;
  /** The certificate of the client. */
  readonly cert?: string;
  /** The file with the certificates of the authorities. */
  readonly caFile?: string;
  /** The certificates of the authorities. */
  readonly ca?: string;
  /** The file with the key of the client. */
  readonly keyFile?: string;
  /** The key of the client. */
  readonly key?: string;
}

/** A message that JetStream keeps. */
export interface StoredMessage {
  readonly subject: string;
  readonly seq: number;
  readonly header: NatsHeaders;
  readonly data: Uint8Array;
}

/** A question for one message. */
type MessageQuery =
  | { readonly seq: number; readonly next_by_subj?: string }
  | { readonly last_by_subj: string };

/** The configuration of a stream, as far as it is used. */
export interface StreamSettings {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly retention: 'limits';
  readonly storage: 'file' | 'memory';
  readonly num_replicas: number;
  readonly max_age: number;
  readonly max_bytes: number;
  readonly max_msgs_per_subject: number;
  readonly discard: 'old';
  readonly duplicate_window: number;
  readonly allow_direct?: boolean;
  readonly republish?: { readonly src?: string; readonly dest?: string };
}

/** The requests to JetStream that manage streams and read messages. */
export interface JetStreamManager {
  readonly streams: {
    add(config: StreamSettings): Promise<{ readonly config: StreamSettings }>;
    update(name: string, config: StreamSettings): Promise<{ readonly config: StreamSettings }>;
    info(name: string): Promise<{ readonly state: { readonly last_seq: number } }>;
    purge(name: string, options: { readonly filter: string }): Promise<unknown>;
    getMessage(name: string, query: MessageQuery): Promise<StoredMessage | null>;
  };
  readonly direct: { getMessage(name: string, query: MessageQuery): Promise<StoredMessage | null> };
}

/** Publishes to a stream and waits until the message is stored. */
export interface JetStreamPublisher {
  publish(
    subject: string,
    data: Uint8Array,
    options: { readonly msgID: string; readonly headers: NatsHeaders; readonly timeout: number },
  ): Promise<{ readonly seq: number }>;
}

/** The package `@nats-io/jetstream`. */
export interface JetStreamPackage {
  jetstream(nc: NatsConnection, options: { readonly timeout: number }): JetStreamPublisher;
  jetstreamManager(
    nc: NatsConnection,
    options: { readonly timeout: number; readonly checkAPI: false },
  ): Promise<JetStreamManager>;
}
