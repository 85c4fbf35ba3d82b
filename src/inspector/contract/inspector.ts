// The messages between the page and the process behind it.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { ManifestChange } from '../../tooling/manifest/manifest-change.js';
import type { ChatDecision, ChatView } from './chat.js';
import type { CatalogView, ConnectionView, FoundServer, TargetSpec } from './connection.js';
import type { DeliveriesView, ToldEvent, WebhookReplyKind } from './events.js';
import type { LogLine, MessageHead, MessageText } from './message.js';
import type { RequestReportView, RequestsView } from './requests.js';
import type { Story } from './story.js';
import type { TapeReplayView, TapeView } from './tape.js';

/** Everything that the page needs at its start. */
export interface PageSnapshot {
  readonly version: string;
  /** The number of the latest event that is in it. */
  readonly seq: number;
  readonly connections: readonly ConnectionView[];
  readonly stories: readonly Story[];
  readonly messages: readonly MessageHead[];
  readonly logs: readonly LogLine[];
  readonly told: readonly ToldEvent[];
  readonly found: readonly FoundServer[];
  readonly tapes: readonly TapeView[];
  readonly chats: readonly ChatView[];
  /** Whether the page may connect to other servers. */
  readonly mayConnect: boolean;
  /** The name of the file in which the project keeps requests. */
  readonly requestsFile?: string;
  /** Undefined if calls are not kept for later visits. */
  readonly history?: HistoryView;
  /** The connection and the tool to show first. */
  readonly first?: { readonly connection?: string; readonly tool?: string };
  /** The origin that serves the frames of apps. */
  readonly sandboxOrigin?: string;
}

/** The history of the project. */
export interface HistoryView {
  /** The latest problem with its file, as a sentence. */
  readonly notice?: string;
}

/** A change. Everything in it replaces what the page had under the same id. */
export type InspectorEvent = { readonly seq: number } & (
  | { readonly type: 'connection'; readonly connection: ConnectionView }
  | { readonly type: 'disconnected'; readonly id: string }
  | { readonly type: 'story'; readonly story: Story }
  | { readonly type: 'messages'; readonly messages: readonly MessageHead[] }
  | { readonly type: 'logs'; readonly lines: readonly LogLine[] }
  | { readonly type: 'told'; readonly events: readonly ToldEvent[] }
  | { readonly type: 'cleared'; readonly connection: string; readonly kept: readonly number[] }
  | { readonly type: 'found'; readonly found: readonly FoundServer[] }
  | { readonly type: 'tape'; readonly tape: TapeView }
  | { readonly type: 'history'; readonly history: HistoryView }
  /** Without a `chat`, there is none any more. */
  | { readonly type: 'chat'; readonly connection: string; readonly chat?: ChatView }
);

/** The commands of the page, by name: what it sends, and what it gets. */
export interface Commands {
  connect: [TargetSpec, { connection: string }];
  /** Opens it again, after a failure or with another revision; `newest` is the newest that both ends speak. */
  reconnect: [{ connection: string; revision?: string }, object];
  disconnect: [{ connection: string }, object];
  forgetServer: [{ id: string }, object];
  /** Lists everything again. */
  refresh: [{ connection: string }, object];
  call: [
    { connection: string; tool: string; args: JsonObject; asTask?: boolean; repeats?: number },
    { story: number },
  ];
  read: [{ connection: string; uri: string }, { story: number }];
  prompt: [{ connection: string; name: string; args: Readonly<Record<string, string>> }, { story: number }];
  request: [{ connection: string; method: string; params: JsonObject }, { story: number }];
  /**
   * Sends the request of a story again: on its connection, on another one, or in another revision. For a revision that no connection to the
   * same server speaks, one is opened.
   */
  again: [{ story: number; connection?: string; revision?: string }, { story: number }];
  /** The differences between what two servers offer, or one server in two revisions. */
  compareServers: [{ before: string; after: string }, { changes: readonly ManifestChange[] }];
  complete: [
    {
      connection: string;
      ref: { prompt: string } | { template: string };
      argument: string;
      value: string;
      context?: Readonly<Record<string, string>>;
    },
    { values: readonly string[]; total?: number; hasMore?: boolean },
  ];
  subscribe: [{ connection: string; uri: string }, { story: number }];
  unsubscribe: [{ connection: string; uri: string }, object];
  /** Follows a type of events. It is followed once: with other arguments, the earlier subscription ends. */
  followEvents: [{ connection: string; name: string; args: JsonObject }, { story: number }];
  unfollowEvents: [{ connection: string; name: string }, object];
  /** Polls a type once. The first poll finds the position, the next ones continue after the one before. */
  pollEvents: [{ connection: string; name: string; args: JsonObject }, { story: number }];
  /** Subscribes a webhook for the receiver of the inspector, once for each type. `origin` is what the server has to allow. */
  receiveWebhooks: [
    { connection: string; name: string; args: JsonObject },
    { story: number; origin: string },
  ];
  stopWebhooks: [{ connection: string; name: string }, object];
  webhookReply: [{ connection: string; name: string; reply: WebhookReplyKind }, object];
  /** Emits an event in a server of one's own. */
  emitEvent: [
    { connection: string; name: string; data: JsonObject; eventId?: string },
    { eventId: string; isNew: boolean },
  ];
  deliveries: [{ connection: string }, DeliveriesView];
  /** Sends events again that were given up: one, or all of a subscription. */
  redeliver: [{ connection: string; subscription: string; eventId?: string }, { count: number }];
  /** Cancels a call, or asks the server to cancel a task. */
  stop: [{ story: number }, object];
  /** Answers a question. `remember` answers the next run of the same tool in the same way. */
  answer: [{ story: number; question: string; answer: JsonObject; remember?: boolean }, object];
  forgetAnswers: [{ connection: string; tool?: string }, object];
  /** Follows a task that an earlier visit, or another program, started. */
  followTask: [{ connection: string; task: string }, { story: number }];
  roots: [{ connection: string; roots: readonly { uri: string; name?: string }[] }, object];
  logLevel: [{ connection: string; level: string | undefined }, object];
  ping: [{ connection: string }, { ms: number }];
  pin: [{ story: number; pinned: boolean }, object];
  /** Removes the stories and messages of a connection, also from the history, except those that are pinned or not over. */
  clear: [{ connection: string }, object];
  /** Deletes the history of the project, of all its servers. */
  forgetHistory: [object, object];
  /** Logs in again, or for the first time. */
  login: [{ connection: string }, object];
  /** Deletes tokens, registrations and everything else that is kept for this server. */
  forgetLogin: [{ connection: string }, object];
  importTape: [{ name: string; text: string }, { tape: string }];
  closeTape: [{ tape: string }, object];
  /** Makes the calls of a tape again. Tools that may change something need to be in `allow`. */
  replayTape: [{ tape: string; connection: string; allow: readonly string[] }, TapeReplayView];
  /** The requests that the project keeps, as its file has them now. */
  requests: [object, RequestsView];
  /** Keeps the request of a story under a name, with what is expected of its result. */
  saveRequest: [{ story: number; name: string; expect: JsonObject; replace?: boolean }, RequestsView];
  removeRequest: [{ name: string }, RequestsView];
  /** Runs requests, one after another, each as a story. */
  runRequests: [{ connection: string; names: readonly string[] }, { reports: readonly RequestReportView[] }];
  /**
   * Begins a chat with a model, named as in `fullmcp eval --model`. `key` is the name of the environment variable with its key. Another chat of
   * the connection ends.
   */
  beginChat: [
    {
      connection: string;
      model: string;
      key?: string;
      price?: { input: number; output: number };
      maxTokens?: number;
      trusts?: boolean;
    },
    object,
  ];
  endChat: [{ connection: string }, object];
  say: [{ connection: string; text: string }, object];
  stopChat: [{ connection: string }, object];
  /** Decides about a call. `digest` is that of the call as it was shown. */
  decideCall: [{ connection: string; call: string; digest: string; decision: ChatDecision }, object];
  /** The text of a request and its calls as a case for evals. `ask` is the id of its entry. */
  chatCase: [{ connection: string; ask: number }, { text: string }];
  /** Adds it to the file of cases. */
  saveChatCase: [{ connection: string; ask: number }, { file: string }];
}

export type CommandName = keyof Commands;
/** The commands about chats. */
export type ChatCommandName =
  | 'beginChat'
  | 'endChat'
  | 'say'
  | 'stopChat'
  | 'decideCall'
  | 'chatCase'
  | 'saveChatCase';

/** The process behind the page. */
export interface Inspector {
  readonly snapshot: () => PageSnapshot;
  /** The events after `seq`; undefined if they are no longer kept: then take a new snapshot. */
  readonly eventsAfter: (seq: number) => readonly InspectorEvent[] | undefined;
  readonly subscribe: (listener: (event: InspectorEvent) => void) => () => void;
  /** Rejects with an `McpError`, whose message is for the user. */
  readonly run: (command: string, input: JsonObject) => Promise<object>;
  readonly catalog: (connection: string) => CatalogView | undefined;
  readonly message: (seq: number) => MessageText | undefined;
  /** The whole outcome of a story, as JSON. */
  readonly outcome: (story: number) => string | undefined;
  /** A story as one HTML file that opens without a server, without secrets. */
  readonly share: (story: number) => string | undefined;
  /** The recording of a connection, without secrets. */
  readonly tape: (connection: string) => string | undefined;
  readonly close: () => Promise<void>;
}
