import { fullmcp } from '../fullmcp.js';
import { info } from '../request.js';
import { echoDescription, echoInput, toolNames } from './tools.js';

const { createServer, tool } = await fullmcp('index');

export function createFullmcp(options = {}) {
  const echo = tool({ description: echoDescription, input: echoInput, run: ({ text }) => text });
  return createServer({
    ...info,
    tools: Object.fromEntries(toolNames().map((name) => [name, echo])),
    ...options,
  });
}
