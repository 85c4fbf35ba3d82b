// A client that is flooded by the server it connects to. It keeps calling, whether the calls succeed or not.
import { connect } from '../../dist/client.js';
import { reportMemory } from './memory.mjs';

const target = JSON.parse(process.argv[2]);
reportMemory({ port: 0 });
for (;;) {
  let client;
  try {
    client = await connect(target, { connectTimeoutMs: 5000 });
    for (;;) await client.callTool('any', {}, { timeoutMs: 2000 });
  } catch {
    await client?.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
