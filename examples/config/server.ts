import { type Serving, serve } from 'fullmcp/node';
import server from '../basic-server/server.js';

// #region config
/** Options in the file apply where neither the program nor the environment sets them. */
export function serveWithConfig(): Promise<Serving> {
  return serve(server, { config: 'fullmcp.json' });
}
// #endregion config
