import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome, TransportName } from '../call.js';
import type { InputRequest } from '../model/input.js';
import type { SubscriptionFilter } from '../model/model.js';
import type { TaskStatus } from '../tasks.js';

// The messages that are published for programs to listen to.

/**
 * The messages on the channels `tracing:fullmcp:<name>:start`, `:end`, `:asyncStart`, `:asyncEnd` and `:error`, by name. All
 * messages of one operation are the same object. `result` and `error` are set when it has ended.
 */
export interface TraceEvents {
  /** One call, in the server that answers it or in the client that makes it. */
  readonly call: CallEvent;
  /** One run of a tool's handler: for a client, for another tool, or for a task. */
  readonly tool: ToolEvent;
  /** One run of a resource's reader. */
  readonly read: ReadEvent;
  /** One question: in the handler that asks it, or in the client that answers it. */
  readonly question: QuestionEvent;
  /** One subscription that a server holds open. */
  readonly subscription: SubscriptionEvent;
  /** One session or connection, at either end. */
  readonly session: SessionEvent;
  /** The work of one process on a task. */
  readonly task: TaskEvent;
}

/** A request whose credentials a server has refused, before it became a call. It is the message on the channel `fullmcp:refused`. */
export interface RefusedCaller {
  /** The name of the server. */
  readonly server: string;
  /** The status of the reply: 401 or 403. */
  readonly status: number;
  /** The reason, as the client is told. It never has the credentials. */
  readonly reason: string;
  /** The IP address of the client. */
  readonly address?: string | undefined;
}

/** The message on the channel `fullmcp:change`: a change that this process has announced. */
export interface ChangeEvent {
  /** The name of the server. */
  readonly server: string;
  /** The list that has changed, or `resource` for the contents of a resource. */
  readonly kind: 'tools' | 'prompts' | 'resources' | 'events' | 'resource';
  /** The URI of the resource whose contents have changed; otherwise undefined. */
  readonly uri: string | undefined;
}

interface Ended {
  /** The reason of a failure. */
  error?: unknown;
}

/** A call, in the server that answers it or in the client that makes it. */
interface CallEvent extends Ended {
  /** The end that publishes the message. */
  readonly side: 'server' | 'client';
  /** The name of the server, or the address that the client is connected to. */
  readonly server: string;
  /** The call itself, with its arguments and its caller. */
  readonly call: Call;
  /** The outcome. A tool that failed has an outcome with `isError`, and no error. */
  result?: Outcome;
}

/** A run of a tool's handler. */
interface ToolEvent extends Ended {
  /** The name of the tool. */
  readonly name: string;
  /** The arguments, after validation. */
  readonly input: unknown;
  /** The call that the tool runs for. */
  readonly call: Call;
  /** The result of the tool, or questions to the client. */
  result?: unknown;
}

/** A run of a resource's reader. */
interface ReadEvent extends Ended {
  /** The URI that is read. */
  readonly uri: string;
  /** The contents, or questions to the client. */
  result?: unknown;
}

/**
 * A question. In a server, a question without an answer yet ends with an error named `Suspension`, and is asked again when the
 * client has answered.
 */
export interface QuestionEvent extends Ended {
  /** The end that publishes the message. */
  readonly side: 'server' | 'client';
  /** The key of the question, if it is known. */
  readonly key: string | undefined;
  /** The question as the client gets it. */
  readonly request: InputRequest;
  /** The answer. */
  result?: unknown;
}

/** A subscription that a server holds open. */
interface SubscriptionEvent extends Ended {
  /** The call that opened the subscription. */
  readonly call: Call;
  /** The changes that the client is told of. */
  readonly granted: SubscriptionFilter;
}

/** A session or connection. */
interface SessionEvent extends Ended {
  /** The end that publishes the message. */
  readonly side: 'server' | 'client';
  /** The transport. */
  readonly transport: TransportName;
  /** The address that the client is connected to; undefined in a server. */
  readonly target?: string | undefined;
}

/** The work of one process on a task. */
export interface TaskEvent extends Ended {
  /** The id of the task. */
  readonly id: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The status at the end. It is `working` or `input_required` if the task continues later, perhaps in another process. */
  status?: TaskStatus;
  /** The result of the tool. */
  result?: JsonObject | undefined;
}
