// The real clients, behind types of our own (peers.d.ts): types can be checked even if the clients are not installed.
import { WebSocket } from 'ws';

export {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
export { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
export { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
export { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
export { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
export { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
export { WebSocketClientTransport as WebSocketV1 } from '@modelcontextprotocol/sdk/client/websocket.js';
export {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
export { createParser } from 'eventsource-parser';

// Node 20 has no WebSocket of its own, and the client supports no other.
globalThis.WebSocket ??= WebSocket;
