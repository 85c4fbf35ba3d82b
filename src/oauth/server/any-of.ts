import type { AuthProvider, AuthRequest, ResourceFacts } from '../../state/auth-provider.js';

/**
 * Accepts the credentials of several providers. Each request is checked by the first provider that knows its kind of credentials, and
 * by no other: credentials that one kind rejects are not tried as another kind. Anonymous callers are served if one of the providers
 * is optional.
 *
 * @example
 * const auth = anyOf(apiKey({ keys, header: 'x-api-key' }), bearer(verify));
 */
export function anyOf(...providers: readonly AuthProvider[]): AuthProvider {
  if (providers.length === 0 || providers.some((provider) => typeof provider?.check !== 'function'))
    throw new TypeError('anyOf needs one provider or more, such as anyOf(apiKey({ … }), bearer(verify)).');
  return {
    optional: providers.some(({ optional }) => optional),
    schemes: unique(providers.flatMap(({ schemes = ['Bearer'] }) => schemes)),
    // A provider may learn its facts when it starts.
    get resource() {
      return mergeFacts(providers.flatMap(({ resource }) => resource ?? []));
    },
    check: (request) => checkWith(providers, request),
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
    async close() {
      await Promise.all(providers.map((provider) => provider.close?.()));
    },
  };
}

// Not async: a provider that knows the credentials already answers at once.
function checkWith(
  providers: readonly AuthProvider[],
  request: AuthRequest,
): ReturnType<AuthProvider['check']> {
  for (const [index, provider] of providers.entries()) {
    const caller = provider.check(request);
    if (caller instanceof Promise)
      return caller.then((found) => found ?? checkWith(providers.slice(index + 1), request));
    if (caller !== undefined) return caller;
  }
  return undefined;
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
