// The exports of `fullmcp/client` that are the same on every runtime.

export type {
  CallResult,
  Change,
  Client,
  ClientCode,
  ClientEvents,
  ClientInfo,
  ClientOn,
  Completion,
  EventStore,
  FollowedEvents,
  FollowOptions,
  LastError,
  ListedEvent,
  Listing,
  PendingCall,
  PromptResult,
  ReadResult,
  ReceivedEvent,
  ServerFacts,
  Status,
  SubscribeOptions,
  SubscribeTo,
  Subscription,
  TaskHandle,
  TaskState,
  ToolCallOptions,
  TypedEvent,
} from '../client/model/client.js';
export type {
  ElicitForm,
  ElicitFormHandler,
  ElicitFormResult,
  ElicitUrl,
  ElicitUrlHandler,
  Handlers,
  QuestionContext,
  SamplingHandler,
  SamplingRequest,
  SamplingResult,
} from '../client/model/handlers.js';
export type {
  CallOptions,
  ClientOptions,
  LogMessage,
  Progress,
  ReconnectOptions,
} from '../client/model/options.js';
export { ResultCache, type ResultCacheOptions } from '../client/model/result-cache.js';
export type { TypedTools } from '../client/model/typed.js';
export type { JsonObject } from '../jsonrpc/message.js';
export type { Auth, Call, Dispatch, Middleware, Outcome, Peer } from '../protocol/call.js';
export type { CodeOptions } from '../protocol/code/code-options.js';
export { type CallSource, type ErrorCode, McpError } from '../protocol/errors.js';
export type {
  AuthHeaders,
  AuthorizedRequest,
  ChallengedRequest,
  ChallengeReply,
  ClientAuth,
} from '../protocol/model/client-auth.js';
export type { ContentBlock, ResourceContents } from '../protocol/model/content.js';
export type { ElicitUrlResult, Root, SamplingContent, SamplingMessage } from '../protocol/model/input.js';
export type {
  ClientCapabilities,
  Discovered,
  Implementation,
  ListedPrompt,
  ListedResource,
  ListedTemplate,
  ListedTool,
  PromptMessage,
  ServerCapabilities,
} from '../protocol/model/model.js';
export type { Discovery, RegisteredService, ServiceInstance } from '../protocol/services.js';
export type { LogLevel } from '../protocol/tables/log-level.js';
export type { Revision } from '../protocol/tables/revisions.js';
export type { NodeHttpOptions } from '../transports/http/client/options.js';
export type { Connect } from './connect.js';
export type { GroupClient } from './group/group.js';
export type { GroupInfo, MemberInfo } from './group/group-info.js';
export type { OneShots } from './one-shots.js';
export type { Attempt } from './open/attempts.js';
export { type Era, type KnownServer, KnownServers, knownServer } from './targets/known-servers.js';
export type { ConnectOptions, OneShotOptions } from './targets/options.js';
export type { McpConfig, ServerObject, Target } from './targets/target.js';
