import './connect.css';
import type { VNode } from 'preact';
import { route } from '../../state/route.js';
import { connection, found, mayConnect } from '../../state/store.js';
import { ConnectForm } from './connect-form.js';
import { ConnectProgress } from './connect-progress.js';
import { FoundServers } from './found-servers.js';

/** The place to connect to a server, and to see why it does not work. */
export function Connect(): VNode {
  const view = connection.value;
  const isShown =
    view !== undefined &&
    view.status !== 'ready' &&
    (route.value.place !== 'connect' || view.connectedAt === undefined);
  return (
    <div class="connect">
      <div class="connect-column">
        {isShown && <ConnectProgress key={view.id} connection={view} />}
        {mayConnect.value && (
          <>
            <h1>Connect</h1>
            <ConnectForm view={isShown ? view : undefined} />
            {found.value.length > 0 && <FoundServers />}
          </>
        )}
      </div>
    </div>
  );
}
