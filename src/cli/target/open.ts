// Opens the connection of a command. One command is one connection.

import { basename } from 'node:path';
import process from 'node:process';
import { NOT_A_PAGE } from '../../client/answering/answer-with.js';
import type { Client } from '../../client/model/client.js';
import { connect } from '../../client.js';
import type { ConnectOptions } from '../../connect/targets/options.js';
import { isObject } from '../../jsonrpc/message.js';
import { copyError, McpError } from '../../protocol/errors.js';
import { MASKED } from '../../protocol/tables/failure-texts.js';
import { type Revision, revisions } from '../../protocol/tables/revisions.js';
import { cleanLine } from '../../tooling/clean.js';
import { refIn } from '../../tooling/process-output.js';
import type { Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';
import { duration } from '../command/parse.js';
import { withCallerHint } from './caller.js';
import { hasLogins, loginServer } from './login/login-folder.js';
import { storedLogin } from './login/stored-login.js';
import { isScript, type TypedTarget, takeTarget } from './read-target.js';
import { withAdvice } from './refusal-advice.js';
import { ServerWords } from './server-words.js';

export interface Opened {
  readonly client: Client;
  readonly target: TypedTarget;
  /** The words after the target. */
  readonly words: readonly string[];
}

/**
 * Handlers for a command that does not ask. Every command declares that questions can be answered, because some servers show the tools that
 * ask only to such clients: `list` shows the tools that `call` can use.
 */
export const unasked: Pick<ConnectOptions, 'elicit'> = {
  elicit: { form: () => ({ action: 'cancel' }), url: () => ({ action: 'cancel' }) },
};

/** Connects to the target that was typed, runs `use`, and closes the connection. */
export async function withTarget(
  input: Typed,
  use: (opened: Opened) => Promise<void>,
  more: ConnectOptions = {},
): Promise<void> {
  const { target, words } = await takeTarget(input);
  const { kept } = input;
  if (kept !== undefined) {
    const client = await kept.client();
    return kept.during(more, () => useClient(input, use, { client, target, words }));
  }
  const said = new ServerWords(target.target, target.typed);
  const client = await openClient(input, target, { ...said.options, ...more });
  const onFailure = async (error: unknown): Promise<boolean> => {
    // The end of the server brings the rest of what it wrote.
    await client.close();
    return !input.signal.aborted && said.print(error, input.out);
  };
  try {
    await useClient(input, use, { client, target, words }, onFailure);
  } finally {
    await client.close();
  }
}

/** Connects to a target. The error of a server that refuses says what to type. */
export async function openClient(input: Typed, target: TypedTarget, more: ConnectOptions): Promise<Client> {
  const options = { ...unasked, ...connectOptions(input, target), ...more };
  input.out.wait(waitingFor(target));
  const client = await connect(target.target, options)
    .catch(async (error: unknown) => {
      throw await withAdvice(orNoServer(inWordsOfCommand(error, input)), input, { target, options });
    })
    .finally(() => input.out.wait());
  // The program below never sees such a question, and the user must know why the server got no answer.
  client.on('problem', ({ message }) => {
    if (message.includes(NOT_A_PAGE)) input.out.aside(cleanLine(message, 500));
  });
  return client;
}

/** The option of a program that an error names is another one here. */
function inWordsOfCommand(error: unknown, input: Typed): unknown {
  if (!McpError.is(error) || error.code !== 'timeout') return error;
  const advice = '. --timeout waits longer, as in --timeout 2m.';
  // A time is said as it was typed.
  const ms = duration(input, 'timeout');
  const typed = input.text('timeout')?.replace(/(?<=\d)$/, 's');
  const said = typed === undefined ? error.message : error.message.replace(` ${ms} ms `, ` ${typed} `);
  return copyError(error, { message: said.replace(/ \((?:connectT|t)imeoutMs\)$/, advice) });
}

/** The error of a program that wrote other lines than messages before it ended. */
function orNoServer(error: unknown): unknown {
  if (!McpError.is(error) || error.code !== 'connection_closed' || !isObject(error.data)) return error;
  const [stdout, stderr] = [error.data['stdout'], error.data['stderr']].map((lines) => [lines ?? []].flat());
  if (stdout?.length === 0 || stderr?.length !== 0) return error;
  const advice =
    'Is it an MCP server? One writes nothing but messages to standard output, and waits for more.';
  return copyError(error, { message: `${error.message}\n${advice}` });
}

/** An error that the server hides from its clients, with the place where it is: above in the terminal, or in the log of the server. */
function withPlaceOfError(error: unknown, isSaid: boolean): unknown {
  if (!(error instanceof Error) || !error.message.startsWith(MASKED)) return error;
  const ref = refIn(error.message);
  if (ref === undefined) return error;
  const place = isSaid ? "The server's own words are above." : `Look for ${ref} in the server's log.`;
  const message = `${error.message.replace(/(?<![.!?])$/, '.')} ${place}`;
  if (error instanceof CommandError) return new CommandError(error.exit, message, error.data);
  return McpError.is(error) ? copyError(error, { message }) : error;
}

/** Runs a command with an open connection. */
async function useClient(
  input: Typed,
  use: (opened: Opened) => Promise<void>,
  opened: Opened,
  onFailure?: (error: unknown) => Promise<boolean>,
): Promise<void> {
  const { target } = opened;
  input.out.wait(`waiting for ${nameOf(target)}`);
  try {
    await use(opened);
  } catch (thrown) {
    input.out.wait();
    const isSaid = (await onFailure?.(thrown)) ?? false;
    const error = withPlaceOfError(inWordsOfCommand(thrown, input), isSaid);
    if (isScript(target.word)) throw withCallerHint(error, input);
    throw await withAdvice(error, input, { target, options: connectOptions(input, target) });
  } finally {
    input.out.wait();
  }
}

/** The words for a person who waits for a connection, as in `starting zoo.js`. */
function waitingFor(target: TypedTarget): string {
  const isStarted =
    (typeof target.target === 'object' && 'command' in target.target) || /\.py$/i.test(target.word);
  const verb = isStarted ? 'starting' : 'connecting to';
  return `${verb} ${nameOf(target)}`;
}

/** A target in one word: the name of its file, its host, or the name that was typed. */
function nameOf({ target, word, typed }: TypedTarget): string {
  if (URL.canParse(word) && new URL(word).host !== '') return cleanLine(new URL(word).host, MAX_NAME);
  const path =
    word !== '' ? word : typeof target === 'object' && 'command' in target ? target.command : typed;
  return cleanLine(basename(path), MAX_NAME);
}

const MAX_NAME = 60;

/**
 * The options of `connect` that were typed, and those that a configured server has of its own. Only an address that was typed gets the token
 * of the environment: a config may come from anybody, and name any address.
 */
export function connectOptions(input: Typed, target: TypedTarget): ConnectOptions {
  const { own } = target;
  const token = input.text('token') ?? (own === undefined ? process.env['MCP_TOKEN'] : undefined);
  const timeoutMs = duration(input, 'timeout');
  const revision = input.text('revision');
  if (revision !== undefined && !(revisions as readonly string[]).includes(revision))
    throw usageError(`--revision must be one of ${revisions.join(', ')}, not ${JSON.stringify(revision)}.`);
  return {
    signal: input.signal,
    reconnect: false,
    headers: Object.fromEntries(input.texts('header').map(header)),
    ...own,
    ...authOf(input, target, token),
    ...(timeoutMs !== undefined && { timeoutMs, connectTimeoutMs: timeoutMs }),
    ...(revision !== undefined && { revision: revision as Revision }),
  };
}

/** The token that was typed, or else the login that is kept for this address. */
function authOf(
  input: Typed,
  { target, own }: TypedTarget,
  token: string | undefined,
): Pick<ConnectOptions, 'auth'> {
  if (token) return { auth: token };
  const hasOwn =
    own?.auth !== undefined || input.texts('header').some((text) => /^authorization\s*:/i.test(text));
  if (hasOwn || !hasLogins() || loginServer(target) === undefined) return {};
  return { auth: storedLogin() };
}

function header(text: string): readonly [string, string] {
  const at = text.indexOf(':');
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw usageError('--header needs "Name: value".');
}
