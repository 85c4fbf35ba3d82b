// The token of the user that a server refused. Its claims are read to find the reason; they are not verified, and the token is never shown.

import { Buffer } from 'node:buffer';
import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { MAX_DEPTH, parseJson } from '../../../../jsonrpc/parse.js';
import type { ProtectedResource } from '../../../../oauth/documents/protected-resource.js';
import type { ParsedChallenge } from '../../../../protocol/encoding/challenges.js';
import { shorten } from '../../../../protocol/encoding/shorten.js';
import { failed, type StepFinding } from './finding.js';

interface Refusal {
  readonly challenge: ParsedChallenge | undefined;
  readonly resource: ProtectedResource | undefined;
  readonly server: string;
}

const STEP = 'auth: token';
const MAX_TOKEN_LENGTH = 64 * 1024;

/** Finds the reason for which a server refuses a token. */
export function examineToken(authorization: string, refusal: Refusal): StepFinding {
  const claims = claimsOf(authorization.replace(/^\S+\s+/, ''));
  return (
    timeFinding(claims) ??
    audienceFinding(claims, refusal) ??
    issuerFinding(claims, refusal) ??
    serverFinding(refusal)
  );
}

/** The claims of a JWT; none if the token is not one. */
function claimsOf(token: string): JsonObject {
  const [, payload, signature] = token.slice(0, MAX_TOKEN_LENGTH).split('.');
  if (payload === undefined || signature === undefined) return {};
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'), MAX_DEPTH);
  return isObject(claims) ? claims : {};
}

function timeFinding({ exp, nbf }: JsonObject): StepFinding | undefined {
  const now = Date.now() / 1000;
  if (typeof exp === 'number' && exp <= now)
    return failed(STEP, `The token ended ${ago(now - exp)} ago.`, 'Get a new token.');
  if (typeof nbf === 'number' && nbf > now)
    return failed(
      STEP,
      `The token is valid in ${ago(nbf - now)} only.`,
      'Check the clocks of this computer and of the authorization server.',
    );
  return undefined;
}

function audienceFinding({ aud }: JsonObject, { resource, server }: Refusal): StepFinding | undefined {
  const audiences = [aud ?? []].flat().slice(0, 5);
  const expected = resource?.resource ?? server;
  if (audiences.length === 0 || audiences.some((one) => one === expected)) return undefined;
  const others = audiences.map((one) => shorten(one, 200)).join(', ');
  return failed(
    STEP,
    `The token is for ${others}, and the server is ${shorten(expected, 200)}.`,
    `Ask the authorization server for a token with resource=${shorten(expected, 200)}.`,
  );
}

function issuerFinding({ iss }: JsonObject, { resource }: Refusal): StepFinding | undefined {
  if (typeof iss !== 'string' || resource === undefined || resource.authorizationServers.includes(iss))
    return undefined;
  const trusted = resource.authorizationServers.slice(0, 3).map((issuer) => shorten(issuer, 200));
  return failed(
    STEP,
    `The token is from ${shorten(iss, 200)}, and the server trusts ${trusted.join(', ')}.`,
    'Get the token from an authorization server that the server trusts. The issuers must be the same text.',
  );
}

function serverFinding({ challenge }: Refusal): StepFinding {
  const error = challenge?.parameters.get('error');
  const words = challenge?.parameters.get('error_description') ?? error;
  if (error === 'insufficient_scope')
    return failed(
      STEP,
      `The scopes of the token are not sufficient${words === error ? '' : `: ${shorten(words, 200)}`}.`,
      `Ask for a token with the scopes ${shorten(challenge?.parameters.get('scope') ?? 'that the server needs', 200)}.`,
    );
  return words === undefined
    ? failed(
        STEP,
        'The server asks for a token as if none was sent.',
        'Check that proxies pass the header Authorization on, and that the server takes bearer tokens.',
      )
    : failed(
        STEP,
        `The server refuses the token: ${shorten(words, 200)}.`,
        'Get a new token for this server.',
      );
}

function ago(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}
