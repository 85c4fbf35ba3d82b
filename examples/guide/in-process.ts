// #region in-process
import { inProcess } from 'fullmcp';
import server from '../basic-server/server.js';

const ask = inProcess(server);

export const result = await ask('tools/call', { name: 'add', arguments: { a: 2, b: 40 } });
// { resultType: 'complete', content: [{ type: 'text', text: '42' }], … }
// #endregion
