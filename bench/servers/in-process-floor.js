// What a call of a tool costs at least over any wire, without the wire: print the request and read it, check the arguments
// and run, print the answer and read it.
import { answerTo, callMessage } from '../request.js';
import { answerParent } from './report.js';
import { timed } from './timed.js';
import { echoInput } from './tools.js';

async function callTool() {
  const message = JSON.parse(callMessage(1));
  echoInput.parse(message.params.arguments);
  return JSON.parse(answerTo(message)).result;
}

answerParent(0, { run: timed(callTool) });
