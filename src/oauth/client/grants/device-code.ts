import * as oauth from 'oauth4webapi';
import { delay } from '../../../async/delay.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { callEndpoint, isAllowed } from '../hops/endpoint.js';
import { answeredError, hopError } from '../hops/failures.js';
import {
  type ClientIdentity,
  commonParameters,
  type GrantContext,
  type IssuedTokens,
  requestTokens,
} from './grant.js';

// The device authorization grant (RFC 8628): the user enters a code on a device that has a browser.

const DEFAULT_INTERVAL_S = 5;
/** A server that asks for less has made a mistake. */
const MIN_INTERVAL_S = 1;
/** Timers cannot wait for longer, and fire at once instead. */
const MAX_DELAY_MS = 2 ** 31 - 1;
/** RFC 8628, 3.5: the interval grows by this when the server asks for it. */
const SLOW_DOWN_S = 5;

/** Gets tokens by a login of the user on another device. */
export async function deviceCode(context: GrantContext, identity: ClientIdentity): Promise<IssuedTokens> {
  const { metadata } = context.target;
  const url = metadata.device_authorization_endpoint;
  if (url === undefined)
    throw hopError(
      `The authorization server ${metadata.issuer} does not offer the login with a code. Use the login with a browser.`,
      { hop: 'device authorization' },
    );
  const client: oauth.Client = { client_id: identity.clientId };
  const { authenticate } = identity.authentication;
  const started = await callEndpoint(context, {
    hop: 'device authorization',
    url,
    send: (options) =>
      oauth.deviceAuthorizationRequest(metadata, client, authenticate, commonParameters(context), options),
    read: (response) => oauth.processDeviceAuthorizationResponse(metadata, client, response),
    secrets: [identity.secret],
  });
  for (const address of [started.verification_uri, started.verification_uri_complete])
    if (address !== undefined && !isAllowed(address, context.policy))
      throw hopError(
        `The authorization server ${metadata.issuer} names an address for the login that must not be opened: ${displayUrl(address)}.`,
        { hop: 'device authorization' },
      );
  const expiresAt = Date.now() + started.expires_in * 1000;
  context.emit({
    type: 'device code',
    userCode: started.user_code,
    verificationUri: started.verification_uri,
    verificationUriComplete: started.verification_uri_complete,
    expiresAt,
  });
  let intervalS = Math.max(MIN_INTERVAL_S, started.interval ?? DEFAULT_INTERVAL_S);
  while (Date.now() < expiresAt) {
    await delay(Math.min(intervalS * 1000, MAX_DELAY_MS), { signal: context.signal });
    try {
      return await poll(context, identity, started.device_code);
    } catch (error) {
      const answered = answeredError(error);
      if (answered === 'slow_down') intervalS += SLOW_DOWN_S;
      else if (answered !== 'authorization_pending') throw error;
    }
  }
  throw hopError('The user did not enter the code in time.', { hop: 'device authorization' });
}

function poll(context: GrantContext, identity: ClientIdentity, code: string): Promise<IssuedTokens> {
  const { metadata, resource } = context.target;
  return requestTokens(context, {
    hop: 'token',
    identity,
    send: (client, options) =>
      oauth.deviceCodeGrantRequest(metadata, client, identity.authentication.authenticate, code, {
        ...options,
        ...(resource !== undefined && { additionalParameters: { resource } }),
      }),
    read: (client, response) => oauth.processDeviceCodeResponse(metadata, client, response),
    secrets: [code],
  });
}
