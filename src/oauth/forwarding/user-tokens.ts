import { unlessAborted } from '../../async/abort.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import type { OAuthRuntime } from '../client/create-auth.js';
import { Upstream } from '../proxy/upstream/upstream.js';
import type { ExchangedIdentity } from './exchange-token.js';
import { loginHandler } from './login-handler.js';
import { PendingLogins } from './pending-logins.js';
import { readUserTokensOptions, type UserTokensOptions } from './user-tokens-options.js';
import { VaultTokens } from './vault-tokens.js';

/** A login that the user has to be asked for. */
interface AskedLogin {
  readonly login: { readonly url: string; readonly message: string };
}

/** The tokens of users at the server behind a proxy. */
export interface UserTokens {
  /** The `identity` for `proxy` and `gateway`. */
  readonly identity: (
    call: Call,
    progress: {
      /** Whether the user has agreed to open the page. */
      readonly accepted: boolean;
    },
  ) => Promise<ExchangedIdentity | AskedLogin>;
  /** Serves the pages of the login, at `publicUrl` and at `/callback` after it. */
  readonly handler: (request: Request) => Promise<Response>;
}

/** The time for which a call waits for the login that its user has agreed to. Then the user is asked again. */
const WAIT_MS = 45_000;

/** Makes `userTokens` for a runtime. */
export function makeUserTokens(
  runtime: Pick<OAuthRuntime, 'safeFetch'>,
): (options: UserTokensOptions) => UserTokens {
  return function userTokens(given) {
    const options = readUserTokensOptions(given);
    const { upstream: provider, vault, browserUser, privateHosts = [], loginMs } = options;
    const { message = `Log in at ${provider.name} to continue.` } = options;
    const log = new OperatorLog('userTokens').loggerOf(options.logger);
    const publicUrl = new URL(options.publicUrl);
    const upstream = new Upstream(provider, {
      fetch: runtime.safeFetch({ privateHosts }),
      callback: `${publicUrl.href}/callback`,
      privateHosts,
    });
    const logins = new PendingLogins(loginMs);
    const tokens = new VaultTokens({ vault, upstream, log });

    async function wait(principal: string, signal: AbortSignal): Promise<void> {
      const pending = logins.of(principal);
      if (pending === undefined) return;
      const timeout = AbortSignal.timeout(WAIT_MS);
      await unlessAborted(pending.done, AbortSignal.any([signal, timeout])).catch(() =>
        signal.throwIfAborted(),
      );
    }

    return {
      async identity(call, { accepted }) {
        if (call.auth === undefined)
          throw new McpError('unauthorized', 'The server behind this one needs to know you. Log in first.');
        const principal = principalOf(call);
        let known = await tokens.headersFor(principal, call.signal);
        if (known === undefined && accepted) {
          await wait(principal, call.signal);
          known = await tokens.headersFor(principal, call.signal);
        }
        if (known !== undefined)
          return { key: JSON.stringify(['user', principal]), auth: tokens.authOf(principal) };
        const url = new URL(publicUrl);
        url.searchParams.set('login', logins.ask(principal).id);
        return { login: { url: url.href, message } };
      },
      handler: loginHandler({
        ...{ logins, upstream, publicUrl, browserUser, log },
        save: (principal, issued) => tokens.save(principal, issued),
      }),
    };
  };
}
