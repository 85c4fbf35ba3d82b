// The least that a tool call costs over any wire, without the wire: print and parse the request, check the arguments,
// run, print and parse the response.
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
