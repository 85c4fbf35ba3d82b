// The entry `fullmcp/client` for browsers: without processes and files.

import { type Connect, makeConnect } from './connect/connect.js';
import { makeOneShots, type OneShots } from './connect/one-shots.js';

export * from './connect/public.js';
export type { ServerProcess } from './transports/stdio/client/spawn.js';

/** Connects to a server at a URL, or in the same page. A browser cannot start processes or read files. */
export const connect: Connect = /* @__PURE__ */ makeConnect({
  environment: () => globalThis.process?.env,
});

const oneShots: OneShots = /* @__PURE__ */ makeOneShots(connect);
/** Connects, runs `use` with the client, and closes the client, even if `use` throws. */
export const withClient: OneShots['withClient'] = oneShots.withClient;
/** Connects, calls one tool, and closes. A failure of the tool itself is a result with `isError`; `unwrap` throws it. */
export const callTool: OneShots['callTool'] = oneShots.callTool;
/** Connects, lists all tools, and closes. */
export const listTools: OneShots['listTools'] = oneShots.listTools;
/** Connects, reads one resource, and closes. */
export const readResource: OneShots['readResource'] = oneShots.readResource;
/** Connects, gets one prompt, and closes. */
export const getPrompt: OneShots['getPrompt'] = oneShots.getPrompt;
/** Connects, reads the server's description of itself (name, capabilities, instructions and revision), and closes. */
export const serverInfo: OneShots['serverInfo'] = oneShots.serverInfo;
