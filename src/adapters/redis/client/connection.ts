// The small interface to Redis: what fullmcp needs of a client library.

/** Opens connections to Redis. There is one for each client library; write one to use another library. */
export interface RedisConnector {
  /** Names the server in errors. Must not contain a password. */
  readonly name: string;
  /** Strings that must not appear in errors: passwords. */
  readonly secrets: readonly string[];
  /** Opens a connection for commands: to a server, or to all nodes of a cluster. */
  open(options: RedisOpenOptions): Promise<RedisConnection>;
  /** Opens a connection to one server, or to any one node of a cluster. */
  openOne(options: RedisOpenOptions): Promise<RedisConnection>;
}

/** The options with which a connection is opened. */
export interface RedisOpenOptions {
  /** Aborts if the connection is not needed any more while it is being opened. */
  readonly signal: AbortSignal;
  /** Called with each message of a channel that the connection has subscribed to. */
  readonly onMessage: (channel: string, message: string) => void;
  /** Called when the connection is lost. It is not used any more. */
  readonly onLost: (reason: unknown) => void;
}

/** An open connection. It never reconnects: when it is lost, another one is opened. */
export interface RedisConnection {
  /**
   * Sends a command once. Rejects with the error of the server, or if the connection is lost before the reply: the command must
   * never be sent again, because the server may have executed it.
   */
  send(command: readonly string[], options?: RedisSendOptions): Promise<unknown>;
  /** Subscribes to a channel. Resolves when no message is missed any more. */
  subscribe(channel: string): Promise<void>;
  /** Ends the subscription to a channel. */
  unsubscribe(channel: string): Promise<void>;
  /** Closes the connection at once. Commands that wait for a reply are rejected. */
  close(): void;
}

/** The options of a command. */
type RedisSendOptions = {
  /** The key that decides to which node of a cluster the command is sent. */
  readonly key?: string;
};
