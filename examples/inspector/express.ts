import express from 'express';
import { inspector } from 'fullmcp/inspector';
import { createNodeHandler } from 'fullmcp/node';
import server from '../basic-server/server.js';

// #region mount
const app = express();
app.use('/mcp', createNodeHandler(server));
const inspecting = process.env['NODE_ENV'] === 'production' ? undefined : inspector(server);
if (inspecting) app.use(inspecting);

export const listening = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
// #endregion

export async function close(): Promise<void> {
  await inspecting?.close();
  await new Promise((resolve) => listening.close(resolve));
  await server.close();
}
