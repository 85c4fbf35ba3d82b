// What `fullmcp/client` exports on every runtime, beside what depends on the runtime.

export { ResultCache, type ResultCacheOptions } from '../client/cache.js';
export type {
  AnswerForm,
  AnswerSampling,
  AnswerVisit,
  Asked,
  Form,
  FormAnswer,
  Handlers,
  SamplingAnswer,
  SamplingRequest,
  Visit,
  VisitAnswer,
} from '../client/handlers.js';
export type {
  CallResult,
  Change,
  Client,
  ClientEvents,
  ClientInfo,
  Completion,
  CompletionRequest,
  Interests,
  Listing,
  PendingCall,
  PromptResult,
  ReadResult,
  ServerFacts,
  Status,
  SubscribeOptions,
  Subscription,
  TaskHandle,
  TaskState,
  ToolCallOptions,
} from '../client/model.js';
export type {
  CallOptions,
  ClientOptions,
  LogMessage,
  Progress,
  ReconnectOptions,
} from '../client/options.js';
export type { TypedTools } from '../client/typed.js';
export type { Auth, Call, Dispatch, Middleware, Outcome, Peer } from '../protocol/call.js';
export type { ContentBlock, ResourceContents } from '../protocol/content.js';
export { type ErrorCode, McpError } from '../protocol/errors.js';
export type { Root, SamplingContent, SamplingMessage } from '../protocol/input.js';
export type { LogLevel } from '../protocol/log-level.js';
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
} from '../protocol/model.js';
export type { Revision } from '../protocol/revisions.js';
export type {
  Lookup,
  LookupAddress,
  NodeHttpOptions,
  Pem,
} from '../transports/http/client/options.js';
export type { Attempt } from './attempts.js';
export type { McpConfig } from './config.js';
export type { Connect } from './connect.js';
export type { GroupClient } from './group.js';
export type { OneShotOptions, OneShots } from './one-shots.js';
export type { ConnectOptions } from './options.js';
export type { Address, ServerObject, Target } from './target.js';
export { type Era, type Verdict, VerdictCache, verdictOf } from './verdicts.js';
