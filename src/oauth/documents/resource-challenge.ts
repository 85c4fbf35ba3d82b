import { parseChallenges } from '../../protocol/encoding/challenges.js';
import { readScopes } from './scopes.js';

const schemes = ['bearer', 'dpop'] as const;

/** The wishes of an MCP server, from the Bearer and DPoP challenges of a 401 or 403. */
export interface ResourceChallenge {
  /** The schemes among `bearer` and `dpop` that the server named, in its order. */
  readonly schemes: readonly (typeof schemes)[number][];
  /** Such as `invalid_token`, `insufficient_scope` or `use_dpop_nonce`. */
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  /** The scopes that the request needs; undefined if the server did not say. */
  readonly scopes: readonly string[] | undefined;
  /** The URL of the protected resource metadata. */
  readonly resourceMetadata: string | undefined;
}

/** Reads the `WWW-Authenticate` header of an MCP server. Where both schemes have a parameter, the first counts. */
export function readResourceChallenge(header: string | null | undefined): ResourceChallenge {
  const challenges = parseChallenges(header).flatMap(({ scheme, parameters }) => {
    const known = schemes.find((one) => one === scheme);
    return known === undefined ? [] : [{ scheme: known, parameters }];
  });
  const parameter = (name: string): string | undefined =>
    challenges
      .map(({ parameters }) => parameters.get(name))
      .find((value) => value !== undefined && value !== '');
  const scope = parameter('scope');
  return {
    schemes: [...new Set(challenges.map(({ scheme }) => scheme))],
    error: parameter('error'),
    errorDescription: parameter('error_description'),
    scopes: scope === undefined ? undefined : readScopes(scope.split(/\s+/)),
    resourceMetadata: parameter('resource_metadata'),
  };
}
