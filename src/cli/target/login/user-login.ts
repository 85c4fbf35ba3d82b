// The login of a person, whose tokens are kept.

import type { OAuthClient } from '../../../oauth/client/create-auth.js';
import type { OAuthEvent } from '../../../oauth/client/hops/events.js';
import type { OAuthOptions } from '../../../oauth/client/oauth.js';
import { oauth } from '../../../oauth.js';
import type { Typed } from '../../command/definition.js';
import { loginStore } from './login-store.js';

export interface UserLoginOptions extends Pick<OAuthOptions, 'flow' | 'scopes' | 'askForClient'> {
  /** Whether the browser is left alone, and the address is only printed. Default: false. */
  readonly isPrinted?: boolean;
  /** Called with each event. */
  readonly onEvent?: (event: OAuthEvent) => void;
}

/** An `auth` for connections that lets the person log in. Everything that it prints goes to stderr. */
export function userLogin(input: Typed, options: UserLoginOptions = {}): OAuthClient {
  const { isPrinted = false, onEvent, ...more } = options;
  const { out } = input;
  return oauth({
    ...more,
    client: { name: 'fullmcp' },
    store: loginStore(),
    open: (url) => (isPrinted ? undefined : openPage(input, url)),
    onEvent(event) {
      if (event.type === 'authorize') out.note(authorizeNote(event.url, isPrinted || out.isWatched));
      if (event.type === 'device code')
        out.note(`Open ${event.verificationUri} on any device, and enter the code ${event.userCode}`);
      onEvent?.(event);
    },
  });
}

/** If the browser does not start, the login continues: the user gets the address. */
async function openPage({ person, out }: Typed, url: string): Promise<void> {
  try {
    await person().openPage(url);
  } catch {
    out.note(`The browser does not start. Open this address yourself: ${url}`);
  }
}

/** Only a person gets the whole address: it is not for a log, which stderr is under a host. */
function authorizeNote(url: string, isForPerson: boolean): string {
  return isForPerson ? `Log in at ${url}` : `Waiting for the login at ${new URL(url).origin}`;
}
