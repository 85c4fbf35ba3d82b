import type { GatewayFiles } from '../../connect/gateway/config-source.js';

// Loaded when a gateway has a file: other runtimes never load the code for Node.
/** The files of a gateway. */
export const gatewayFiles: GatewayFiles = {
  read: async (path) => (await onNode()).readIfThere(path),
  write: async (path, text) => (await onNode()).replaceFile(path, text),
  version: async (path) => (await onNode()).versionOf(path),
};

function onNode(): Promise<typeof import('../node/files/whole-files.js')> {
  return import('../node/files/whole-files.js');
}
