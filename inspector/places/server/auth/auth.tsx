import '../server.css';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Button } from '../../../parts/controls/button.js';
import { ErrorPanel } from '../../../parts/error-panel.js';
import { Icon } from '../../../parts/icon.js';
import { isFocusNowhere } from '../../../parts/popup/layers.js';
import { run } from '../../../state/api.js';
import { useCommand } from '../../../state/command.js';
import { Deletion } from '../settings/deletion.js';
import { AuthSteps } from './auth-steps.js';
import { loginAddress } from './auth-words.js';
import { TokenCard } from './token-card.js';

/** The authorization of a connection: its steps, the login, the token, and how to forget it all. */
export function Auth({ connection }: { readonly connection: ConnectionView }): VNode {
  const { id, auth } = connection;
  const command = useCommand();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The connection waits for the login, and the user has nothing else to do here.
    if (isFocusNowhere()) box.current?.querySelector<HTMLElement>('.button.main')?.focus();
  }, [auth.state, auth.loginUrl]);
  const mayLogIn = auth.state !== 'none' && auth.state !== 'logging-in';
  const hasSomething = auth.token !== undefined || auth.hops.length > 0;
  return (
    <div class="server-auth" ref={box}>
      <AuthSteps auth={auth} />
      {auth.state === 'logging-in' && <LoginLink address={auth.loginUrl} />}
      {mayLogIn && (
        <div>
          <Button
            look={auth.state === 'needed' || auth.state === 'failed' ? 'main' : 'plain'}
            icon="lock"
            isDisabled={command.isRunning.value}
            onClick={() => void command.start(() => run('login', { connection: id }))}
          >
            {auth.state === 'logged-in' ? 'Log in again' : 'Log in'}
          </Button>
        </div>
      )}
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
      {auth.token !== undefined && <TokenCard token={auth.token} />}
      {hasSomething && (
        <Deletion
          title="Forget everything"
          button="Forget everything"
          done="The login is forgotten"
          work={() => run('forgetLogin', { connection: id })}
        >
          Deletes what is kept for {cleanLine(connection.address, 100)}: the access token, the refresh token,
          the registration of this client, and the metadata of the server and of its authorization server. The
          next login starts from nothing.
        </Deletion>
      )}
    </div>
  );
}

/** The page to log in at. It opens only on a click, in a tab of its own. */
function LoginLink({ address }: { readonly address: string | undefined }): VNode {
  const url = loginAddress(address);
  if (address === undefined) return <p class="muted">The login page is being prepared.</p>;
  if (url === undefined)
    return (
      <p class="server-exit">
        The server names a login page that is not a web address: {cleanLine(address, 200)}
      </p>
    );
  return (
    <div class="auth-login">
      <a class="button main" href={url.href} target="_blank" rel="noreferrer noopener">
        <Icon name="external" />
        Log in at {cleanLine(url.host, 80)}
      </a>
      <p class="mono auth-line">
        {`${url.protocol}//`}
        <strong>{cleanLine(url.host, 200)}</strong>
        {cleanLine(`${url.pathname}${url.search}`, 1500)}
      </p>
    </div>
  );
}
