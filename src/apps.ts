// The entry `fullmcp/apps`: pages that show the results of tools, for servers, for the pages themselves and for hosts.

import type { ClientExtension } from './client/model/options.js';
import { APP_TYPE, UI } from './protocol/model/apps/app.js';

export { type ReadApp, readApp } from './client/apps/read-app.js';
export { type SandboxPage, type SandboxPageOptions, sandboxPage } from './client/apps/sandbox-page.js';
export { type AppView, type ShowAppOptions, showApp } from './client/apps/show-app.js';
export type { ClientExtension } from './client/model/options.js';
export { type App, type AppDefinition, app } from './extensions/apps/app.js';
export { type AppPage, appPage, bridgeScript, embedJson } from './extensions/apps/app-page.js';
export { apps, showsApps, type WithAppOptions, withApp } from './extensions/apps/apps-extension.js';
export {
  type AppHost,
  type AppToolResult,
  type ConnectToHostOptions,
  connectToHost,
} from './extensions/apps/connect-to-host.js';
export { RefusedError } from './jsonrpc/window-channel.js';
export {
  type AppCsp,
  type AppPermission,
  type ToolUi,
  type ToolVisibility,
  uiOf,
} from './protocol/model/apps/app.js';
export type { DisplayMode, HostCapabilities, HostContext } from './protocol/model/apps/host-context.js';
export type { ServerExtension } from './server/define/extension.js';

/** The extension for clients of hosts that show apps: `connect(target, { extensions: [appsClient] })`. */
export const appsClient: ClientExtension = { id: UI, settings: { mimeTypes: [APP_TYPE] } };
