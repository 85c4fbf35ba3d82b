import { settlesWithin } from '../../async/deadline.js';
import type { Auth } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { AuthProvider, AuthRequest, ResourceFacts } from '../../state/auth-provider.js';
import { CredentialsError, unknownToken } from './credentials.js';

/**
 * Accepts the credentials of several providers, which are asked in this order. The first one that recognizes the credentials as its
 * own decides alone: a token of its issuer, for example, or a key with its prefix. A provider that fails, or does not answer within
 * 8 seconds, does not keep the others from being asked. Anonymous callers are served if one of the providers is optional.
 *
 * @example
 * const auth = anyOf(apiKey({ keys, header: 'x-api-key' }), bearer(verify));
 */
export function anyOf(...providers: readonly AuthProvider[]): AuthProvider {
  if (providers.length === 0 || providers.some((provider) => typeof provider?.check !== 'function'))
    throw new TypeError('anyOf needs one provider or more, such as anyOf(apiKey({ … }), bearer(verify)).');
  /** The provider of each caller, to ask it again. */
  const owners = new WeakMap<Auth, AuthProvider>();
  const onAccepted: Asking['onAccepted'] = (provider, auth) => {
    if (provider.isStillValid !== undefined) owners.set(auth, provider);
    return auth;
  };
  return {
    optional: providers.some(({ optional }) => optional),
    schemes: unique(providers.flatMap(({ schemes = ['Bearer'] }) => schemes)),
    publicUrl: providers.find(({ publicUrl }) => publicUrl !== undefined)?.publicUrl,
    // A provider may learn its facts when it starts.
    get resource() {
      return mergeFacts(providers.flatMap(({ resource }) => resource ?? []));
    },
    check: (request) => checkWith(providers, { request, onAccepted, failures: [] }),
    isStillValid: (request, auth) => owners.get(auth)?.isStillValid?.(request, auth) ?? true,
    ...(providers.some(({ handle }) => handle) && {
      handle(request) {
        for (const provider of providers) {
          const response = provider.handle?.(request);
          if (response !== undefined) return response;
        }
        return undefined;
      },
    }),
    async start(context) {
      await Promise.all(providers.map((provider) => provider.start?.(context)));
    },
    async close(context) {
      await Promise.all(providers.map((provider) => provider.close?.(context)));
    },
  };
}

interface Asking {
  readonly request: AuthRequest;
  /** Called with the caller that a provider has found. */
  readonly onAccepted: (provider: AuthProvider, auth: Auth) => Auth;
  /** The errors of the providers that were asked before. */
  readonly failures: readonly unknown[];
}

// Not async: a provider that knows the credentials already answers at once.
function checkWith(providers: readonly AuthProvider[], asking: Asking): ReturnType<AuthProvider['check']> {
  const { request, onAccepted, failures } = asking;
  const [provider, ...others] = providers;
  if (provider === undefined) return conclude(failures);
  const next = (failure?: unknown): ReturnType<AuthProvider['check']> => {
    if (failure !== undefined && isVerdict(failure)) throw failure;
    return checkWith(
      others,
      failure === undefined ? asking : { ...asking, failures: [...failures, failure] },
    );
  };
  const take = (caller: Auth | undefined): ReturnType<AuthProvider['check']> =>
    caller === undefined ? next() : onAccepted(provider, caller);
  try {
    const caller = provider.check(request);
    if (caller instanceof Promise) return inTime(caller).then(take, next);
    if (caller !== undefined) return onAccepted(provider, caller);
  } catch (error) {
    return next(error);
  }
  return next();
}

/** The time that one provider may take before the next one is asked. */
const PROVIDER_MS = 8000;

async function inTime(checking: Promise<Auth | undefined>): Promise<Auth | undefined> {
  if (await settlesWithin(checking, PROVIDER_MS)) return checking;
  throw new McpError('overloaded', 'The caller could not be authenticated in time. Try again later.');
}

/** Whether an error is about credentials that the provider has recognized. Any other leaves the decision to the other providers. */
function isVerdict(error: unknown): boolean {
  if (error instanceof CredentialsError) return error.isRecognized;
  return McpError.is(error) && (error.code === 'unauthorized' || error.code === 'forbidden');
}

// While one provider cannot check the credentials, nobody knows that they are not valid.
function conclude(failures: readonly unknown[]): undefined {
  const undecided = failures.find((failure) => !isUnknown(failure));
  if (undecided !== undefined) throw undecided;
  const [first, ...others] = failures as readonly McpError[];
  if (first === undefined) return undefined;
  const reasons = new Set([first, ...others].map(({ message }) => message));
  throw reasons.size === 1
    ? first
    : unknownToken(`No provider of this server accepts the credentials. ${[...reasons].join(' ')}`);
}

function isUnknown(failure: unknown): boolean {
  return failure instanceof CredentialsError && failure.code === 'unauthorized';
}

function mergeFacts([first, ...others]: readonly ResourceFacts[]): ResourceFacts | undefined {
  if (first === undefined || others.length === 0) return first;
  const all = [first, ...others];
  const algorithms = unique(all.flatMap(({ dpopAlgorithms = [] }) => dpopAlgorithms));
  return {
    authorizationServers: unique(all.flatMap(({ authorizationServers }) => authorizationServers)),
    ...mergeLists('scopes', all),
    ...mergeLists('requiredScopes', all),
    dpop: mergeDpop(all),
    ...(algorithms.length > 0 && { dpopAlgorithms: algorithms }),
  };
}

function mergeLists(name: 'scopes' | 'requiredScopes', all: readonly ResourceFacts[]): object {
  const lists = all.flatMap((facts) => (facts[name] === undefined ? [] : [facts[name]]));
  return lists.length === 0 ? {} : { [name]: unique(lists.flat()) };
}

function mergeDpop(all: readonly ResourceFacts[]): ResourceFacts['dpop'] {
  if (all.every(({ dpop }) => dpop === 'required')) return 'required';
  return all.some(({ dpop }) => dpop !== undefined) ? 'supported' : undefined;
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
