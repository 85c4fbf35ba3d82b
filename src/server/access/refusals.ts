// The errors for callers that lack scopes.

import type { Caller } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { insufficientScope } from '../../protocol/insufficient-scope.js';
import { missingScopes } from './gate.js';

/** The error for a caller that lacks some of these scopes. An anonymous caller has to log in first. */
export function scopesError({ auth }: Caller, scopes: readonly string[]): McpError {
  if (auth !== undefined) return insufficientScope(missingScopes(auth, scopes));
  const message = `This needs a caller that is logged in, with ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(' ')}.`;
  return new McpError('unauthorized', message, { data: { scopes }, challenge: { scopes } });
}
