// The model of a chat: named in the page, with its key from the environment of the process, which never leaves it but to the model.

import process from 'node:process';
import { keyOf, type ModelTarget, modelTarget } from '../../evals/model/target.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { CommandInput } from '../session/input.js';

/** A model, ready to be asked. */
export interface ChatModel {
  readonly target: ModelTarget;
  readonly key: string;
  readonly maxTokens: number;
  readonly trusts: boolean;
}

const MAX_TOKENS = 200_000;
/** More than a budget of any model. */
const MOST_TOKENS = 100_000_000;
/** Only variables that are keys of models: others of the process are nobody's business. */
const KEY_NAME = /^[A-Za-z]\w{0,99}_API_KEY$/;

/** Reads what the page has chosen. Throws an `McpError` that says what to change. */
export function readChatModel(input: CommandInput): ChatModel {
  const named = input.text('model', 500).trim();
  const keyName = input.textIfGiven('key');
  if (keyName !== undefined && !KEY_NAME.test(keyName))
    throw new McpError(
      'invalid_params',
      'The key must be the name of an environment variable that ends with _API_KEY, such as OPENROUTER_API_KEY.',
    );
  const maxTokens = input.numberIfGiven('maxTokens') ?? MAX_TOKENS;
  if (maxTokens < 1 || maxTokens > MOST_TOKENS)
    throw new McpError('invalid_params', `The limit of tokens must be from 1 to ${MOST_TOKENS}.`);
  try {
    const own = modelTarget(named);
    const price = priceIn(input.objectIfGiven('price'));
    const target = { ...own, price, keyName: keyName ?? own.keyName };
    return { target, key: keyOf(target, process.env), maxTokens, trusts: input.flag('trusts') };
  } catch (error) {
    const { message } = error as Error;
    const again = message.includes('Set the environment variable')
      ? ' Then start the inspector again: the key is never typed into the page.'
      : '';
    throw new McpError('invalid_params', `${message}${again}`);
  }
}

function priceIn(given: JsonObject | undefined): ModelTarget['price'] {
  if (given === undefined) return undefined;
  const { input, output } = given;
  if (![input, output].every((price) => typeof price === 'number' && price >= 0 && price < 1e6))
    throw new TypeError('The prices must be numbers, for a million tokens each.');
  return { input: input as number, output: output as number };
}
