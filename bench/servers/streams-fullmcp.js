import { fullmcp } from '../fullmcp.js';
import { createFullmcp } from './fullmcp-server.js';
import { reportStreams } from './streams-report.js';

const { serve } = await fullmcp('node');
const { resource } = await fullmcp('index');
const limits = JSON.parse(process.argv[3] ?? '{}');
const server = createFullmcp({
  changes: true,
  resources: { 'bench://{+path}': resource({ read: ({ path }) => String(path) }) },
});
const { port } = await serve(server, {
  port: 0,
  host: '127.0.0.1',
  websocket: {},
  maxSessions: 20_000,
  ...limits,
});
reportStreams(port, { list: server.changed.tools, resource: server.changed.resource });
