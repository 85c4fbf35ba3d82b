// The names of NATS' service convention, and our own metadata in it.

/** The types of the responses. */
export const TYPES = {
  PING: 'io.nats.micro.v1.ping_response',
  INFO: 'io.nats.micro.v1.info_response',
  STATS: 'io.nats.micro.v1.stats_response',
} as const;

/** The protocol revisions, separated by commas. A service without them does not speak MCP. */
export const META_REVISIONS = 'mcp.revisions';
/** The version of the server as it is; the convention's own field must be a semantic version. */
export const META_VERSION = 'mcp.version';
export const META_TITLE = 'mcp.title';
/** The host and process of the instance. */
export const META_NODE = 'mcp.node';
/** When the instance was started. */
export const META_STARTED = 'mcp.started';
/** The names of the tools, as a JSON array. */
export const META_TOOLS = 'mcp.tools';
