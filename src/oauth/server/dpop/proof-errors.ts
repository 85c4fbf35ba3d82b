import { McpError } from '../../../protocol/errors.js';

// The replies to requests whose proof is not accepted (RFC 9449, section 7.1).

/** The error for a proof that is not valid. */
export function invalidProof(message: string, algorithms: readonly string[]): McpError {
  return new McpError('unauthorized', message, {
    challenge: { scheme: 'DPoP', error: 'invalid_dpop_proof', description: message, algorithms },
  });
}

/** The error for a token that came without the proof or the scheme that it needs, or with one that it must not have. */
export function invalidBinding(message: string, algorithms: readonly string[]): McpError {
  return new McpError('unauthorized', message, {
    challenge: { scheme: 'DPoP', error: 'invalid_token', description: message, algorithms },
  });
}

/** The error for a proof without a nonce that this server has issued lately. The client repeats the request with the new nonce. */
export function nonceNeeded(nonce: string, algorithms: readonly string[]): McpError {
  const message = 'The proof must have the nonce of the header DPoP-Nonce. Repeat the request with it.';
  return new McpError('unauthorized', message, {
    challenge: { scheme: 'DPoP', error: 'use_dpop_nonce', description: message, algorithms, nonce },
  });
}
