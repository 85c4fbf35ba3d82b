import { type Connect, makeConnect } from './connect/connect.js';
import { makeOneShots, type OneShots } from './connect/one-shots.js';

// What bundlers for browsers take for `fullmcp/client`: the same, without processes and files.

export * from './connect/public.js';
export type { ServerProcess } from './transports/stdio/spawn.js';

export const connect: Connect = /* @__PURE__ */ makeConnect({});

const oneShots: OneShots = /* @__PURE__ */ makeOneShots(connect);
export const withClient: OneShots['withClient'] = oneShots.withClient;
export const callTool: OneShots['callTool'] = oneShots.callTool;
export const listTools: OneShots['listTools'] = oneShots.listTools;
export const readResource: OneShots['readResource'] = oneShots.readResource;
export const getPrompt: OneShots['getPrompt'] = oneShots.getPrompt;
export const serverInfo: OneShots['serverInfo'] = oneShots.serverInfo;
