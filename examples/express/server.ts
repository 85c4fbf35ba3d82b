import express from 'express';
import { createNodeHandler } from 'fullmcp/node';
import server from '../basic-server/server.js';

// #region mount
const app = express();
const mcp = createNodeHandler(server);

app.use('/mcp', mcp);
app.use(express.json());
app.get('/', (_req, res) => {
  res.send('The rest of the app');
});

export const listening = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
// #endregion

// #region close
// Ends open streams first, because Node would wait for them.
export async function close(): Promise<void> {
  await mcp.close();
  await new Promise((resolve) => listening.close(resolve));
  await server.close();
}
// #endregion
