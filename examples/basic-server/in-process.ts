// #region in-process
import { connect } from 'fullmcp/client';
import server from './server.js';

const client = await connect(server); // no port, no process, nothing to wait for

export const sum = await client.tool.add({ a: 2, b: 40 }); // 42; TypeScript knows the tool and its arguments
// #endregion

await client.close();
