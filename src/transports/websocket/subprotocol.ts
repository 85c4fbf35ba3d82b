/** The WebSocket subprotocol of MCP, for the option `handleProtocols` of the package `ws`. */
export const SUBPROTOCOL = 'mcp';
