import * as oauth from 'oauth4webapi';
import { isObject } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { checkUrl, type UrlPolicy } from '../../fetch/check-url.js';
import { type SafeFetch, SafeFetchError } from '../../fetch/safe-fetch.js';
import type { DpopKey } from './dpop-key.js';
import type { OAuthEvent, OAuthHop } from './events.js';
import { hopError } from './failures.js';
import { repairRegistrationReply, repairTokenReply } from './repair.js';

// Requests to the endpoints of an authorization server: with our fetch, and with errors that say what was answered.

/** An event without the server, which the receiver adds. */
export type EventOf<T> = T extends unknown ? Omit<T, 'server'> : never;
export type Emit = (event: EventOf<OAuthEvent>) => void;

export interface HopParts {
  readonly fetch: SafeFetch;
  /** The URLs that may be used. Those of this computer only if the MCP server is on this computer. */
  readonly policy: UrlPolicy;
  readonly signal: AbortSignal;
  readonly emit: Emit;
}

/** A request to an endpoint. */
export interface EndpointCall<T> {
  readonly hop: OAuthHop;
  readonly url: string | undefined;
  readonly send: (options: HopOptions) => Promise<Response>;
  readonly read: (response: Response) => Promise<T>;
  /** Strings that must not appear in an error. */
  readonly secrets: readonly (string | undefined)[];
  /** The sentences for a reply that refuses the request, or is not one of this endpoint. Default: what was wrong with the reply. */
  readonly refusal?: string | undefined;
  readonly dpop?: DpopKey | undefined;
}

interface EndpointInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | string | undefined;
}

/** The options that every request function of oauth4webapi takes. */
export interface HopOptions {
  [oauth.customFetch]: (url: string, init: EndpointInit) => Promise<Response>;
  [oauth.allowInsecureRequests]: boolean;
  signal: AbortSignal;
  DPoP?: oauth.DPoPHandle;
}

/** Sends a request and reads its reply. Sends it again if the server asks for a nonce in the proof. */
export async function callEndpoint<T>(parts: HopParts, call: EndpointCall<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call.read(await call.send(optionsOf(parts, call)));
    } catch (error) {
      if (attempt === 0 && call.dpop !== undefined && oauth.isDPoPNonceError(error)) continue;
      parts.signal.throwIfAborted();
      throw toHopError(error, call);
    }
  }
}

function optionsOf({ fetch, policy, signal, emit }: HopParts, call: EndpointCall<unknown>): HopOptions {
  const { hop, url, dpop } = call;
  return {
    async [oauth.customFetch](address, { method, headers, body }) {
      const response = await fetch(address, {
        method,
        headers,
        body,
        redirect: 'manual',
        signal,
        loopback: policy.loopback ? 'allow' : 'refuse',
      });
      emit({ type: 'reply', hop, url: displayUrl(address), status: response.status });
      return hop === 'registration' ? repairRegistrationReply(response) : repairTokenReply(response);
    },
    // The fetch decides for itself; without this, it would never be asked about http.
    [oauth.allowInsecureRequests]: url !== undefined && isAllowed(url, policy),
    signal,
    ...(dpop !== undefined && { DPoP: dpop.handle }),
  };
}

/** Whether a URL of a peer may be used at all. */
export function isAllowed(url: string, policy: UrlPolicy): boolean {
  try {
    checkUrl(url, policy);
    return true;
  } catch (error) {
    if (error instanceof SafeFetchError) return false;
    throw error;
  }
}

function toHopError(error: unknown, { hop, url, secrets, refusal }: EndpointCall<unknown>): McpError {
  if (McpError.is(error)) return error;
  if (error instanceof SafeFetchError) return hopError(error.message, { hop, cause: error });
  if (error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: description, status } = error;
    return hopError(refusal ?? 'The authorization server refused.', {
      hop,
      url,
      status,
      error: code,
      description,
      secrets,
    });
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return hopError(refusal ?? 'The authorization server refused.', {
      hop,
      url,
      status: error.status,
      secrets,
    });
  const response = responseOf(error);
  const why = error instanceof Error ? `${capital(error.message)}.` : 'The answer cannot be used.';
  return hopError(refusal ?? why, { hop, url, status: response?.status, secrets });
}

function responseOf(error: unknown): Response | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Response) return cause;
  const inner = isObject(cause) ? cause['response'] : undefined;
  return inner instanceof Response ? inner : undefined;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');
}
