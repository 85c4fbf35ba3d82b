import { fullmcp } from '../fullmcp.js';

const [{ createFullmcp }, { serveStdio }] = await Promise.all([
  import('./fullmcp-server.js'),
  fullmcp('stdio'),
]);
serveStdio(createFullmcp());
