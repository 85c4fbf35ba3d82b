// Authorization hop by hop: the challenge, the metadata of the server, and that of its authorization servers.

import { lazySafeFetch } from '../../../../adapters/node/fetch/lazy-safe-fetch.js';
import { discoverAuthorizationServer } from '../../../../oauth/documents/authorization-server.js';
import type { DocumentOptions } from '../../../../oauth/documents/document-options.js';
import {
  discoverProtectedResource,
  type ProtectedResource,
} from '../../../../oauth/documents/protected-resource.js';
import { isLoopbackUrl } from '../../../../oauth/fetch/check-url.js';
import { type ParsedChallenge, parseChallenges } from '../../../../protocol/encoding/challenges.js';
import { shorten } from '../../../../protocol/encoding/shorten.js';
import type { Examination, ExaminedReply } from './exchange.js';
import { failed, ok, reasonOf, type StepFinding, skipped, warning } from './finding.js';
import { examineToken } from './token.js';

const MAX_ISSUERS = 3;

/** Follows the refusal of a request to the servers that issue tokens for it. */
export async function examineAuthorization(
  at: Examination,
  reply: ExaminedReply,
): Promise<readonly StepFinding[]> {
  const sent = Object.hasOwn(at.headers, 'authorization') ? at.headers['authorization'] : undefined;
  const challenge = parseChallenges(reply.header('www-authenticate')).find(
    ({ scheme }) => scheme === 'bearer' || scheme === 'dpop',
  );
  const isAboutScopes = reply.status === 403 && challenge !== undefined;
  if (reply.status !== 401 && !isAboutScopes)
    return [ok('auth', sent === undefined ? 'It does not ask for a token.' : 'It accepts the token.')];
  const options: DocumentOptions = {
    fetch: lazySafeFetch({}),
    loopback: isLoopbackUrl(at.url) ? 'allow' : 'refuse',
    signal: AbortSignal.any([at.signal, AbortSignal.timeout(at.timeoutMs)]),
  };
  const resource = await protectedResource(at, challenge, options);
  const namesNobody =
    resource.found === undefined && challenge?.parameters.has('resource_metadata') === false;
  const findings: StepFinding[] = namesNobody
    ? [...ownKeys(sent)]
    : [challengeFinding(challenge), resource.finding];
  for (const issuer of resource.found?.authorizationServers.slice(0, MAX_ISSUERS) ?? []) {
    const signal = AbortSignal.any([at.signal, AbortSignal.timeout(at.timeoutMs)]);
    findings.push(await examineIssuer(issuer, { ...options, signal }));
  }
  at.signal.throwIfAborted();
  findings.push(
    sent === undefined
      ? skipped(
          'auth: token',
          `No token was given: use --token${namesNobody ? ', or --header for a key' : ', or log in with `fullmcp auth login`'}.`,
        )
      : examineToken(sent, { challenge, resource: resource.found, server: at.url.href }),
  );
  return findings;
}

function challengeFinding(challenge: ParsedChallenge | undefined): StepFinding {
  const metadata = challenge?.parameters.get('resource_metadata');
  if (metadata !== undefined) return ok('auth: challenge', `It names ${shorten(metadata, 200)}.`);
  return warning(
    'auth: challenge',
    challenge === undefined
      ? 'The refusal has no WWW-Authenticate: Bearer. A proxy may have removed it.'
      : 'WWW-Authenticate has no resource_metadata.',
    'Send WWW-Authenticate: Bearer resource_metadata="https://…/.well-known/oauth-protected-resource" (RFC 9728).',
  );
}

/** A server with API keys, or with tokens from elsewhere, has no metadata, and needs none. */
function ownKeys(sent: string | undefined): readonly StepFinding[] {
  const asks = sent === undefined ? 'It asks for a key or a token' : 'It refuses the key or token';
  return [
    ok('auth: challenge', `${asks}, and names no authorization server: its operator gives them out.`),
    skipped(
      'auth: resource',
      'Users cannot log in by themselves. If they should, serve /.well-known/oauth-protected-resource (RFC 9728).',
    ),
  ];
}

interface ResourceExamined {
  readonly finding: StepFinding;
  readonly found?: ProtectedResource;
}

async function protectedResource(
  { url }: Examination,
  challenge: ParsedChallenge | undefined,
  options: DocumentOptions,
): Promise<ResourceExamined> {
  try {
    const resourceMetadata = challenge?.parameters.get('resource_metadata');
    const found = await discoverProtectedResource(url.href, { ...options, resourceMetadata });
    const issuers = found.authorizationServers.slice(0, MAX_ISSUERS).map((issuer) => shorten(issuer, 200));
    return {
      finding: ok('auth: resource', `${shorten(found.resource, 200)} trusts ${issuers.join(', ')}.`),
      found,
    };
  } catch (error) {
    const fix =
      'Serve /.well-known/oauth-protected-resource with the URL of this server as "resource", and "authorization_servers" (RFC 9728).';
    return { finding: failed('auth: resource', `${reasonOf(error)}.`, fix) };
  }
}

async function examineIssuer(issuer: string, options: DocumentOptions): Promise<StepFinding> {
  const name = shorten(issuer, 200);
  try {
    const found = await discoverAuthorizationServer(issuer, options);
    if (!found.code_challenge_methods_supported?.includes('S256'))
      return failed(
        'auth: issuer',
        `${name} does not announce PKCE with S256, so clients must refuse it.`,
        'Add S256 to code_challenge_methods_supported in its metadata.',
      );
    const canRegister =
      found.registration_endpoint !== undefined || found.client_id_metadata_document_supported === true;
    return canRegister
      ? ok('auth: issuer', `${name} has metadata, PKCE, and registers clients.`)
      : warning(
          'auth: issuer',
          `${name} does not register clients.`,
          'Each client needs an id from its operator, unless it supports client ID metadata documents or dynamic registration.',
        );
  } catch (error) {
    return failed(
      'auth: issuer',
      `${reasonOf(error)}.`,
      `Check that ${name} is the issuer, and that its /.well-known/oauth-authorization-server can be reached.`,
    );
  }
}
