import process from 'node:process';
import { connect } from '../../../client.js';
import type { ConnectOptions } from '../../../connect/targets/options.js';
import { isObject } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { describeLogin, loginState } from '../../target/login/login-state.js';
import { prepareLoginStore } from '../../target/login/login-store.js';
import { type UserLoginOptions, userLogin } from '../../target/login/user-login.js';
import { connectOptions } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { TypedTarget } from '../../target/read-target.js';
import { hasLogin } from '../../target/refusal-advice.js';
import { loginTarget } from './login-target.js';

/** `fullmcp auth login`. */
export const login: Command = {
  usage: '<target>',
  details:
    'Opens a browser if the server asks for a login, and keeps the tokens: encrypted, for all later commands to this address, which refresh\nthem. They are in ~/.config/fullmcp, or in the folder FULLMCP_HOME. The key is in a file beside them, or in FULLMCP_TOKEN_KEY.',
  words: [1, 1],
  options: {
    device: { type: 'boolean', help: 'log in on another device, with a code' },
    'print-url': { type: 'boolean', help: 'print the address to open, and leave the browser alone' },
    scope: {
      type: 'string',
      multiple: true,
      value: 'scope',
      help: 'a scope to ask for besides those of the server',
    },
    'client-id': {
      type: 'string',
      value: 'id',
      help: 'the id of a registered client, where clients cannot register themselves',
    },
    ...TARGET_OPTIONS,
  },
  examples: [
    { line: 'fullmcp auth login https://example.com/mcp', says: 'Logs in with a browser.' },
    {
      line: 'fullmcp auth login https://example.com/mcp --device',
      says: 'On a computer without a browser: shows a code for another device.',
    },
  ],
  json: '{ ok: true, server: string, loggedIn: boolean, issuer?: string, scopes?: string[], expiresAt?: string, canRefresh?: boolean }; loggedIn is false if the server asks for no login. Tokens are never printed',
  async run(input) {
    const options = optionsOf(input);
    const { target, server } = await loginTarget(input);
    await prepareLoginStore();
    let unsaved: string | undefined;
    const auth = userLogin(input, {
      ...options,
      onEvent: (event) => {
        if (event.type === 'not saved') unsaved = event.message;
      },
    });
    await logIn(target, { ...connectOptions(input, target), signal: input.signal, auth }, server);
    if (unsaved !== undefined)
      throw new CommandError('failed', `You are logged in, but the tokens could not be kept: ${unsaved}`);
    const state = await loginState(server);
    input.out.json({ ok: true, ...state });
    if (input.out.isJson) return;
    input.out.note(
      state.loggedIn ? describeLogin(state) : `${server} asks for no login, so there are no tokens to keep.`,
    );
  },
};

/** Connects, which asks for the login. */
async function logIn(
  { target, typed }: TypedTarget,
  options: ConnectOptions & Pick<Typed, 'signal'>,
  server: string,
): Promise<void> {
  try {
    await (await connect(target, options)).close();
  } catch (error) {
    const data = McpError.is(error) && isObject(error.data) ? error.data : {};
    if (data['hop'] !== 'registration') throw error;
    const { message } = error as McpError;
    if (!(await hasLogin(server, undefined, options.signal)))
      throw new CommandError(
        'unauthorized',
        `${typed} requires authentication, but has no login. Pass its token or API key to each command, with --token or MCP_TOKEN, or with --header "Name: value".`,
        { hop: 'registration' },
      );
    throw new CommandError(
      'unauthorized',
      `${message} Here, that is --client-id, and FULLMCP_CLIENT_SECRET for its secret.`,
      { hop: 'registration' },
    );
  }
}

function optionsOf(input: Typed): UserLoginOptions {
  const clientId = input.text('client-id');
  const clientSecret = process.env['FULLMCP_CLIENT_SECRET'];
  if (input.text('token') !== undefined)
    throw usageError('With --token there is nothing to log in to. Leave it out.');
  if (input.flag('device') && input.flag('print-url'))
    throw usageError('--device needs no browser. Leave out --print-url.');
  return {
    flow: input.flag('device') ? 'device' : 'browser',
    isPrinted: input.flag('print-url'),
    scopes: input.texts('scope'),
    ...(clientId !== undefined && {
      askForClient: async () => ({ clientId, ...(clientSecret && { clientSecret }) }),
    }),
  };
}
