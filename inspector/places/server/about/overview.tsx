import type { VNode } from 'preact';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Markdown } from '../../../parts/values/markdown/markdown.js';
import { AuthSteps } from '../auth/auth-steps.js';
import { RootsEditor } from '../settings/roots-editor.js';
import { clientOffers, serverOffers } from './capabilities.js';
import { CapabilityList } from './capability-list.js';
import { Facts } from './facts.js';

/** The facts about a server, on one screen. */
export function Overview({ connection }: { readonly connection: ConnectionView }): VNode {
  const { server, clientCapabilities, auth } = connection;
  return (
    <div class="server-overview">
      <Facts connection={connection} />
      <div class="server-columns">
        <section aria-labelledby="server-offers">
          <h2 id="server-offers">The server offers</h2>
          {server === undefined ? (
            <p class="muted">Not known yet: the connection is not open.</p>
          ) : (
            <CapabilityList offers={serverOffers(server.capabilities)} />
          )}
        </section>
        <section aria-labelledby="client-offers">
          <h2 id="client-offers">The inspector offers</h2>
          <CapabilityList offers={clientOffers(clientCapabilities)} />
          <RootsEditor connection={connection} />
        </section>
      </div>
      <section aria-labelledby="server-auth">
        <h2 id="server-auth">Authorization</h2>
        <AuthSteps auth={auth} />
      </section>
      <section aria-labelledby="server-instructions">
        <h2 id="server-instructions">Instructions</h2>
        {server?.instructions ? (
          <Markdown text={server.instructions} />
        ) : (
          <p class="muted">
            {cleanLine(connection.name, 60)} gives models no instructions. A sentence on when to use its tools
            helps them.
          </p>
        )}
      </section>
    </div>
  );
}
