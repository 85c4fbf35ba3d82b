import { equal } from 'node:assert/strict';
import { connect } from 'fullmcp/client';
import server from './server.js';

const client = await connect(server); // in this process: no port, nothing to start
equal(await client.tool.add({ a: 2, b: 40 }), 42); // TypeScript knows the tool and its arguments
