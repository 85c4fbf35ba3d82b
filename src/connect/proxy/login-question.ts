import { withSignalOf } from '../../async/lifetime.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { RequiredLogin } from './options.js';

// The question that sends a user to a page where they log in at the server behind the proxy.

const PREFIX = 'fullmcp-proxy-login.';
const KEY = 'login';
const ASKING = ['tools/call', 'prompts/get', 'resources/read'];
/** A caller who could not even list the tools would never call one, and would never be asked. */
const BEFORE_LOGIN = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'events/list',
];

/** Whether a call may be made as the proxy itself while its caller has not logged in. */
export function isOpenToAll({ method }: Call): boolean {
  return BEFORE_LOGIN.includes(method);
}

/** Whether the user can be asked during a call. */
export function mayAsk(method: string): boolean {
  return ASKING.includes(method);
}

/** Asks the user of a call to log in. Throws if that is impossible. */
export function askToLogIn(call: Call, { url, message }: RequiredLogin['login']): Outcome {
  if (!URL.canParse(url)) throw new TypeError('`login.url` of the identity must be an absolute URL.');
  if (!mayAsk(call.method))
    throw new McpError(
      'forbidden',
      `${call.method} needs a login at the server behind this one. Call a tool first, which asks for it.`,
    );
  if (call.peer.capabilities.elicitation?.url === undefined)
    throw new McpError(
      'missing_capability',
      'This call needs a login at the server behind this one, and the client cannot send its user to a page. It must declare elicitation.url; with fullmcp: connect(target, { elicit }).',
      { data: { requiredCapabilities: { elicitation: { url: {} } } } },
    );
  const { requestState, inputResponses } = call.params;
  return {
    resultType: 'input_required',
    inputRequests: { [KEY]: { method: 'elicitation/create', params: { mode: 'url', message, url } } },
    // The caller's own words of this round. Nobody gains by changing them: the identity decides anew who has logged in.
    requestState: PREFIX + JSON.stringify({ requestState, inputResponses }),
  };
}

/** The call that was interrupted by the question, if this call has its answer. Throws if the user refused. */
export function afterLogin(call: Call): Call | undefined {
  const { requestState: state, inputResponses, ...params } = call.params;
  if (typeof state !== 'string' || !state.startsWith(PREFIX)) return undefined;
  const answer = isObject(inputResponses) ? inputResponses[KEY] : undefined;
  if (!isObject(answer) || answer['action'] !== 'accept')
    throw new McpError(
      'forbidden',
      'The call needs a login at the server behind this one, which the user refused.',
    );
  return withSignalOf(call, { ...call, params: { ...params, ...readRound(state.slice(PREFIX.length)) } });
}

function readRound(json: string): object {
  try {
    const { requestState, inputResponses } = JSON.parse(json);
    return {
      ...(requestState !== undefined && { requestState }),
      ...(inputResponses !== undefined && { inputResponses }),
    };
  } catch {
    throw new McpError('invalid_params', 'params.requestState was changed. Call again without it.');
  }
}
