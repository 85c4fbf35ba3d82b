// Prints the stack trace of a handler.
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';

const server = createServer({
  name: 'traced',
  version: '1.0.0',
  tools: {
    trace: tool({
      run() {
        Error.stackTraceLimit = 50;
        return new Error('traced').stack;
      },
    }),
  },
});
const client = await connect(server);
const { text } = await client.callTool('trace', {});
console.log(text);
await client.close();
