// The client for MCP of the AI SDK. It is apart from the other peers, because it needs Node 22.
export { createMCPClient, experimental_createMCPEventWebhook as createMCPEventWebhook } from '@ai-sdk/mcp';
