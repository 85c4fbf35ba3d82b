// The entry `fullmcp/testing`: the testing kit.

export type { ListedPrompt, ListedResource, ListedTemplate, ListedTool } from './protocol/model/model.js';
export {
  type BuiltCall,
  buildCall,
  listedPrompt,
  listedResource,
  listedTemplate,
  listedTool,
  promptResult,
  resourceResult,
  toolResult,
} from './testing/builders.js';
export { busContract } from './testing/contracts/bus.js';
export type { ContractCase } from './testing/contracts/contract.js';
export { eventLogContract } from './testing/contracts/event-log.js';
export { fenceContract } from './testing/contracts/fence.js';
export { storeContract } from './testing/contracts/store.js';
export { tokenStoreContract } from './testing/contracts/token-store.js';
export {
  type FaultEvent,
  type FaultPlan,
  type Faults,
  randomPlan,
  startFaults,
} from './testing/faults/faults.js';
export { faultyFetch } from './testing/faults/faulty-fetch.js';
export { type McpMatchers, matchers } from './testing/matchers/matchers.js';
export type { ModelApi, ToldResult } from './testing/mock-model/api.js';
export {
  type MockModel,
  type MockModelOptions,
  type MockModelRequest,
  type ModelScript,
  mockModel,
} from './testing/mock-model/mock-model.js';
export type { AnswerTurn, FailureTurn, ModelTurn, TurnCall } from './testing/mock-model/turn.js';
export {
  type Mock,
  type MockCall,
  type MockDefinition,
  type MockServer,
  mockServer,
} from './testing/mock-server.js';
export { type Recorder, type RecorderOptions, recorder } from './testing/recording/recorder.js';
export { replay } from './testing/recording/replay.js';
export type { TestHandlers } from './testing/test-client/answers.js';
export type { CollectEvents, CollectedEvents } from './testing/test-client/collected-events.js';
export { everyWire } from './testing/test-client/every-wire.js';
export { type ClientFixture, clientFixture } from './testing/test-client/fixture.js';
export type { ReceivedNotification } from './testing/test-client/received-record.js';
export {
  type Receiving,
  type TestClient,
  type TestClientOptions,
  type TestedServer,
  testClient,
} from './testing/test-client/test-client.js';
export { type TestTransport, wires } from './testing/test-client/wires.js';
export {
  type ReceivedWebhook,
  type SubscribedWebhook,
  type WebhookReceiver,
  type WebhookReceiverOptions,
  type WebhookReply,
  webhookReceiver,
} from './testing/webhook-receiver.js';
