// The options of every command that connects to a server.

import type { Options } from '../command/definition.js';
import { CALLER_OPTIONS } from './caller.js';

export const TARGET_OPTIONS: Options = {
  token: { type: 'string', value: 'token', help: 'the bearer token; better: the variable MCP_TOKEN' },
  header: {
    type: 'string',
    short: 'H',
    multiple: true,
    value: '"Name: value"',
    help: 'a header for every request',
  },
  env: {
    type: 'string',
    short: 'e',
    multiple: true,
    value: 'NAME=value',
    help: 'a variable for a server that is started',
  },
  ...CALLER_OPTIONS,
  cwd: { type: 'string', value: 'folder', help: 'the folder in which a server is started' },
  config: { type: 'string', value: 'file', help: 'the file with the servers by name' },
  timeout: { type: 'string', value: 'time', help: 'the longest time without a response, as in 30s' },
  revision: { type: 'string', value: 'date', help: 'the only revision of the protocol to speak' },
};
