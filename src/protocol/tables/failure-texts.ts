// The beginnings of messages that tell failures apart which have the same code in the protocol. HTTP has a status for each.

/** The error for a tool or a prompt that does not exist, or not for this caller. */
export const UNKNOWN_NAME = { tool: 'Unknown tool: ', prompt: 'Unknown prompt: ' } as const;

/** The result of a call whose arguments do not fit the input schema. */
export const INVALID_ARGUMENTS = 'Invalid arguments for ';

/** The message about an error that the peer must not see. The reference that follows is in the log. */
export const MASKED = 'Internal error (ref ';

/** A warning about the name of a tool. */
export const SOME_REJECT = 'some clients reject names ';

/** The advice for a client that lacks a handler. A client of ours replaces it by its own. */
export const HANDLER_ADVICE = 'Give the client a handler for it; with fullmcp: connect(target, { ';

/** The result of a call that a policy, or the person that it asked, did not allow. */
export function notCalled(tool: string): string {
  return `The tool "${tool}" was not called: `;
}
