// The reason that a server gives for a 401 or 403, for the message of the error. Loaded with the first such reply.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { MAX_HTTP_REPLY_DEPTH, parseJson } from '../../../jsonrpc/parse.js';
import { parseChallenges } from '../../../protocol/encoding/challenges.js';
import { shorten } from '../../../protocol/encoding/shorten.js';

const MAX_REASON = 300;
/** Control characters, line breaks, and characters that hide or turn others around: the server's words are read in terminals and logs. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
/** Words that say no more than the status. */
const EMPTY_WORDS =
  /^(?:error: )?(?:unauthorized|unauthenticated|forbidden|access denied|invalid_token|insufficient_scope|authentication required|this server requires authentication)?[.!]?$/i;

/** A refused request: the header `WWW-Authenticate` of the reply, and its body if that is known. */
export interface RefusedReply {
  readonly challenge: string | undefined;
  readonly body?: string;
  /** Whether the body is a web page, whose text is for people with a browser. */
  readonly isPage?: boolean;
}

/** The reason in the server's words, on one line; undefined if it gives none. */
export function refusalReason({ challenge, body = '', isPage = false }: RefusedReply): string | undefined {
  const described = parseChallenges(challenge).map(({ parameters }) => parameters.get('error_description'));
  const candidates = [...inBody(body, isPage), ...described];
  for (const candidate of candidates) {
    const words = typeof candidate === 'string' ? plain(candidate) : '';
    if (words !== '' && !EMPTY_WORDS.test(words)) return words;
  }
  return undefined;
}

/** The places where servers put the reason: the error of JSON-RPC, that of OAuth, problem details, or text. */
function inBody(body: string, isPage: boolean): readonly unknown[] {
  const text = body.trim();
  if (!text.startsWith('{')) return isPage || text.startsWith('<') ? [] : [text];
  const value = parseJson(text, MAX_HTTP_REPLY_DEPTH);
  if (!isObject(value)) return [];
  const { error, error_description: description, detail, message } = value as JsonObject;
  return [isObject(error) ? error['message'] : undefined, description, message, detail, error];
}

function plain(words: string): string {
  return shorten(
    words
      .slice(0, 4 * MAX_REASON)
      .replace(UNSAFE, ' ')
      .trim(),
    MAX_REASON,
  );
}
