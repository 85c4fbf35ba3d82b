// The entry `fullmcp/extension`: makes extensions of the protocol.

export type { ClientExtension } from './client/model/options.js';
export {
  declares,
  type ExtensionDefinition,
  type ExtensionMethod,
  extension,
} from './extensions/extension.js';
export type { ExtensionHost, ServerExtension } from './server/define/extension.js';
export type { MiddlewareLifetime } from './state/hosted-middleware.js';
