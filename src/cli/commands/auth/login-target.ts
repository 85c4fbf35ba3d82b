// The target of a command about logins.

import type { Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { loginServer } from '../../target/login/login-folder.js';
import { type TypedTarget, takeTarget } from '../../target/read-target.js';

/** Reads the target, and the URL that its login belongs to. */
export async function loginTarget(
  input: Typed,
): Promise<{ readonly target: TypedTarget; readonly server: string }> {
  const { target } = await takeTarget(input);
  const server = loginServer(target.target);
  if (server !== undefined) return { target, server };
  throw usageError(
    `A login is for an https URL, or for a server on this computer over http, and ${target.typed} is neither.`,
  );
}
