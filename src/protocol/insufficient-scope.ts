import { McpError } from './errors.js';

/**
 * Makes the error for a call that needs more scopes. Over HTTP it is a reply 403 with a challenge, after which a client asks its
 * user for the scopes and repeats the call. Throw it before the handler's first effect.
 *
 * @example
 * if (!ctx.auth?.scopes.includes('files:write')) throw insufficientScope(['files:write']);
 */
export function insufficientScope(
  scopes: readonly string[],
  message = `This needs ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(' ')}.`,
): McpError {
  return new McpError('forbidden', message, {
    data: { scopes },
    challenge: { error: 'insufficient_scope', description: message, scopes },
  });
}
