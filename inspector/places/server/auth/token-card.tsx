import type { VNode } from 'preact';
import type { TokenView } from '../../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Badge } from '../../../parts/badge.js';
import { claimsOf, expiry } from './auth-words.js';

/** The token, masked, and what is written in it. */
export function TokenCard({ token }: { readonly token: TokenView }): VNode {
  const now = Date.now();
  const { masked, expiresAt, scopes, issuer, header, claims, canRefresh } = token;
  return (
    <section aria-labelledby="auth-token">
      <h2 id="auth-token">Token</h2>
      <dl class="server-facts">
        <Row name="Token">
          <code>{cleanLine(masked, 60)}</code>
        </Row>
        <Row name="Lasts">
          {expiresAt === undefined ? 'the server does not say how long' : expiry(expiresAt, now)}
          {expiresAt !== undefined && expiresAt <= now && <Badge tone="err">expired</Badge>}
        </Row>
        <Row name="Renewal">
          {canRefresh ? 'with a refresh token, by itself' : 'none: log in again when it ends'}
        </Row>
        {issuer !== undefined && (
          <Row name="Issuer">
            <span class="mono">{cleanLine(issuer, 300)}</span>
          </Row>
        )}
        {scopes !== undefined && (
          <Row name="Scopes">
            {scopes.length === 0 && 'none'}
            {scopes.slice(0, 50).map((scope) => (
              <Badge key={scope}>{cleanLine(scope, 60)}</Badge>
            ))}
          </Row>
        )}
      </dl>
      {claims === undefined ? (
        <p class="muted">The token is not a JWT: only the authorization server can say what it means.</p>
      ) : (
        <>
          <Claims title="Claims" claims={claims} now={now} />
          {header !== undefined && <Claims title="Header" claims={header} now={now} />}
          <p class="label muted">Decoded on this machine and sent nowhere. The signature is not checked.</p>
        </>
      )}
    </section>
  );
}

function Row({
  name,
  children,
}: {
  readonly name: string;
  readonly children: preact.ComponentChildren;
}): VNode {
  return (
    <div class="server-fact">
      <dt class="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Claims({
  title,
  claims,
  now,
}: {
  readonly title: string;
  readonly claims: JsonObject;
  readonly now: number;
}): VNode {
  return (
    <table class="server-table auth-claims">
      <caption>{title}</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Claim</th>
          <th scope="col">Meaning</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {claimsOf(claims, now).map((claim) => (
          <tr key={claim.name}>
            <th scope="row" class="mono">
              {cleanLine(claim.name, 60)}
            </th>
            <td class="muted">{claim.meaning ?? ''}</td>
            <td class="mono">
              {cleanLine(claim.value, 500)}
              {claim.time !== undefined && <span class="muted"> {claim.time}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
