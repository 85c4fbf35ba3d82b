import { settlesWithin } from '../../../../async/deadline.js';
import { unref } from '../../../../async/unref.js';
import type { Auth } from '../../../../protocol/call.js';
import { type AuthInit, toAuth } from '../../../../protocol/caller.js';
import { McpError } from '../../../../protocol/errors.js';
import type { AuthProvider } from '../../../../state/auth-provider.js';
import type { AuthRun } from '../../../../state/auth-run.js';
import type { RefusalReporter } from '../../../server/refusal-reporter.js';
import type { UnauthorizedRequest } from '../../../server/refused-credentials.js';
import type { EndpointAuth } from '../gate.js';
import { clientAddressOf, type Incoming } from '../incoming.js';
import type { Route } from '../routes.js';
import { EdgeRequest, toWebRequest } from './provider-request.js';
import { DEFAULT_ALGORITHMS, replyMetadata } from './resource-metadata.js';
import { ResourceUrls, type ResourceUrlsOptions } from './resource-url.js';

type Found = AuthInit | undefined | null;

/** The parts of an `EdgeAuth`. */
export interface EdgeAuthParts extends ResourceUrlsOptions {
  /** The provider, or the function of the runtime's request that a program has in its place. */
  readonly source: AuthRun | ((raw: unknown) => Found | Promise<Found>);
  /** Logs an unexpected error, and makes the one that the client gets. */
  readonly mask: (error: unknown, where: string) => McpError;
  /** Reports the requests whose credentials are refused. */
  readonly refused?: RefusalReporter | undefined;
}

const AUTH_MS = 30_000;
/** Pages take forms and small documents. */
const PAGE_LIMITS = { maxBytes: 256 * 1024, silenceMs: 30_000 };

/** Authorizes the requests to an endpoint with a provider, and serves the provider's metadata and pages. */
export class EdgeAuth implements EndpointAuth {
  readonly #parts: EdgeAuthParts;
  readonly #urls: ResourceUrls;
  readonly #run: AuthRun | undefined;
  readonly #function: ((raw: unknown) => Found | Promise<Found>) | undefined;

  constructor(parts: EdgeAuthParts) {
    this.#parts = parts;
    this.#urls = new ResourceUrls(parts);
    const { source } = parts;
    if (typeof source === 'function') this.#function = source;
    else this.#run = source;
  }

  get #provider(): AuthProvider | undefined {
    return this.#run?.provider;
  }

  get schemes(): readonly string[] {
    return this.#provider?.schemes ?? ['Bearer'];
  }

  get scopes(): readonly string[] | undefined {
    return this.#provider?.resource?.requiredScopes;
  }

  get algorithms(): readonly string[] | undefined {
    const { dpop, dpopAlgorithms = DEFAULT_ALGORITHMS } = this.#provider?.resource ?? {};
    return dpop === undefined ? undefined : dpopAlgorithms;
  }

  metadataUrl(incoming: Incoming): string | undefined {
    return this.#provider?.resource === undefined ? undefined : this.#urls.metadataUrlOf(incoming);
  }

  watch(incoming: Incoming, onEnd: () => void): (() => void) | undefined {
    const { auth } = incoming;
    const provider = this.#provider;
    if (auth === undefined || provider?.isStillValid === undefined) return undefined;
    const request = new EdgeRequest(incoming, this.#urls);
    return watchCredentials(() => provider.isStillValid?.(request, auth) ?? true, onEnd);
  }

  /** Starts the provider before the first request. Rejects with the provider's own error. */
  async start(): Promise<void> {
    await this.#run?.start();
  }

  starting(): Promise<void> | undefined {
    const starting = this.#run?.start();
    return starting && this.#waitFor(starting);
  }

  // A start that takes long continues, and later requests wait for it again.
  async #waitFor(starting: Promise<void>): Promise<void> {
    try {
      if (await settlesWithin(starting, AUTH_MS)) return await starting;
    } catch (error) {
      this.#parts.mask(error, 'The start of "auth"');
    }
    throw new McpError('overloaded', 'Callers cannot be authenticated yet. Try again later.');
  }

  authenticate(incoming: Incoming): Auth | undefined | Promise<Auth | undefined> {
    try {
      const found = this.#ask(incoming);
      return found instanceof Promise ? this.#settle(incoming, found) : this.#admit(incoming, found);
    } catch (error) {
      throw this.#refuse(error, incoming);
    }
  }

  #ask(incoming: Incoming): Found | Promise<Found> {
    if (this.#function !== undefined) return this.#function(incoming.raw);
    return this.#provider?.check(new EdgeRequest(incoming, this.#urls));
  }

  // No other timeout applies yet: if the service that checks tokens is unavailable, requests would accumulate.
  async #settle(incoming: Incoming, finding: Promise<Found>): Promise<Auth | undefined> {
    try {
      if (await settlesWithin(finding, AUTH_MS)) return this.#admit(incoming, await finding);
    } catch (error) {
      throw this.#refuse(error, incoming);
    }
    throw new McpError('overloaded', 'The caller could not be authenticated in time. Try again later.');
  }

  #admit(incoming: Incoming, found: Found): Auth | undefined {
    const provider = this.#provider;
    if (found === undefined || found === null) {
      if (provider === undefined || this.#run?.isFunction) return undefined;
      // Credentials that nobody knows do not make an anonymous caller: the client would believe that it is logged in.
      if (hasCredentials(incoming, this.schemes)) throw refused('The credentials are not valid here.');
      if (provider.optional) return undefined;
      throw new McpError('unauthorized', 'This server requires authentication.', { challenge: {} });
    }
    const auth = toAuth(found);
    if (auth.expiresAt !== undefined && auth.expiresAt <= Date.now()) throw refused('The token has expired.');
    return auth;
  }

  #refuse(thrown: unknown, incoming: Incoming): McpError {
    const error = this.#toMcpError(thrown);
    this.#parts.refused?.note(error, refusedRequest(incoming));
    return error;
  }

  #toMcpError(error: unknown): McpError {
    if (!McpError.is(error)) return this.#parts.mask(error, '"auth"');
    if (error.status >= 400) return error;
    // Some errors of calls have the status 200, but a request that was not let in must not look like a success.
    return new McpError(error.code, error.message, { status: 500, data: error.data, cause: error });
  }

  servePublic(incoming: Incoming, route: Route | undefined): Promise<void> | undefined {
    const provider = this.#provider;
    if (provider === undefined) return undefined;
    const facts = route === undefined ? provider.resource : undefined;
    const resource = facts && this.#urls.resourceAt(incoming);
    if (facts !== undefined && resource !== undefined) return replyMetadata(incoming, resource, facts);
    return this.#mayBePage(incoming, route) ? this.#servePage(incoming) : undefined;
  }

  // A handler without a path takes every request, so the provider is asked first, unless the path is known to be the endpoint's.
  #mayBePage({ path }: Incoming, route: Route | undefined): boolean {
    if (this.#provider?.handle === undefined) return false;
    if (route === undefined) return true;
    return route === 'mcp' && this.#parts.path === undefined && path !== this.#urls.publicPath;
  }

  #servePage(incoming: Incoming): Promise<void> | undefined {
    const request = toWebRequest(incoming, this.#urls.originOf(incoming), PAGE_LIMITS);
    const responding = request && this.#provider?.handle?.(request);
    return responding && this.#respond(incoming, responding);
  }

  async #respond(incoming: Incoming, responding: Promise<Response>): Promise<void> {
    const response = await responding.catch((error: unknown) => {
      throw McpError.is(error) ? error : this.#parts.mask(error, 'A page of "auth"');
    });
    await incoming.respond(response);
  }
}

function hasCredentials(incoming: Incoming, schemes: readonly string[]): boolean {
  const scheme = incoming.header('authorization')?.trim().split(' ', 1)[0]?.toLowerCase();
  return scheme !== undefined && schemes.some((known) => known.toLowerCase() === scheme);
}

/** The facts of a request that reports of refused credentials need. */
function refusedRequest(incoming: Incoming): UnauthorizedRequest {
  return {
    address: clientAddressOf(incoming),
    fields: () => [...incoming.headerFields(), ...new URLSearchParams(incoming.query)],
  };
}

function refused(message: string): McpError {
  return new McpError('unauthorized', message, {
    challenge: { error: 'invalid_token', description: message },
  });
}

/** The time between two checks. Revoked tokens are in the caches of other processes about as long. */
const CHECK_MS = 60_000;

/**
 * Checks again and again whether the credentials of an open stream or connection are valid, and calls `onEnd` once when they are not.
 * A check that fails says nothing. Returns the function that stops.
 */
function watchCredentials(isStillValid: () => boolean | Promise<boolean>, onEnd: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isStopped = false;
  const wait = (): void => {
    // Streams that were opened together, after a restart, must not be checked together.
    timer = setTimeout(look, CHECK_MS * (0.75 + Math.random() / 2));
    unref(timer);
  };
  const look = async (): Promise<void> => {
    if (isStopped) return;
    const isValid = await Promise.resolve()
      .then(isStillValid)
      .catch(() => true);
    if (isStopped) return;
    if (isValid) wait();
    else onEnd();
  };
  wait();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
