/** The WebSocket subprotocol of MCP, for your `handleProtocols`. */
export const SUBPROTOCOL = 'mcp';
