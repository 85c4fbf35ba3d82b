import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { digestOf } from '../../protocol/canonical.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import type { ClientAuth } from '../../protocol/model/client-auth.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import type { OAuthRuntime } from '../client/create-auth.js';
import { readToken } from '../server/credentials.js';
import { type ExchangeTokenOptions, readExchangeOptions } from './exchange-options.js';
import { ExchangedTokens, type SubjectToken } from './exchanged-tokens.js';
import { exchangeRequest } from './token-exchange.js';

/** An `identity` for `proxy` and `gateway` of callers whose tokens are exchanged. */
export interface ExchangedIdentity {
  /** Names the caller and its token, without containing the token. */
  readonly key: string;
  /** Sends the exchanged token with the requests of the caller. */
  readonly auth: ClientAuth;
}

/** Makes `exchangeToken` for a runtime. */
export function makeExchangeToken(
  runtime: Pick<OAuthRuntime, 'safeFetch'>,
): (options: ExchangeTokenOptions) => (call: Call) => Promise<ExchangedIdentity> {
  return function exchangeToken(given) {
    const options = readExchangeOptions(given);
    const { maxCallers, privateHosts } = options;
    const fetch = runtime.safeFetch({ privateHosts });
    const tokens = new ExchangedTokens({
      exchange: exchangeRequest(options, { fetch, privateHosts }),
      maxCallers,
      log: new OperatorLog('exchangeToken').loggerOf(options.logger),
    });
    return async function exchangedIdentity(call) {
      const subject = await subjectOf(call);
      // Refuses the call before a connection is opened for it.
      await tokens.headersFor(subject, call.signal);
      return { key: subject.key, auth: authOf(tokens, subject) };
    };
  };
}

/** The token of a caller. Only those of authenticated callers are exchanged: anybody can invent the others. */
async function subjectOf(call: Call): Promise<SubjectToken> {
  const { auth, http } = call;
  const token = http === undefined ? undefined : readToken(http);
  if (auth === undefined || token === undefined)
    throw new McpError(
      'unauthorized',
      'The server behind this one needs to know you. Log in with a bearer token.',
    );
  const digest = encodeBase64Url(await digestOf(token));
  return { key: JSON.stringify([principalOf(call), digest]), token, expiresAt: auth.expiresAt };
}

function authOf(tokens: ExchangedTokens, subject: SubjectToken): ClientAuth {
  return {
    headersFor: ({ signal }) => tokens.headersFor(subject, signal),
    async onChallenge({ status }, { headers }) {
      return status === 401 && tokens.forget(subject, headers) ? 'retry' : 'fail';
    },
  };
}
