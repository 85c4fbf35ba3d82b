import type { Caller } from '../../protocol/caller.js';
import type { CompiledAccess } from '../access/access.js';
import type { AccessTarget, Allow } from '../define/access.js';
import type { ToolPolicy } from '../define/policy.js';

/** The rules of a mounted definition: a caller must satisfy those of the outer server and those of the mounted one. */
export function combineAccess(
  target: AccessTarget,
  outer: CompiledAccess | undefined,
  inner: CompiledAccess | undefined,
): CompiledAccess | undefined {
  if (inner === undefined) return outer;
  // The rules of the mounted server know the definition by the name that it has there.
  const innerAllow = inner.allow.map(
    (allow): Allow =>
      (auth, input) =>
        allow(auth, input, inner.target),
  );
  return {
    target,
    scopes: [...new Set([...(outer?.scopes ?? []), ...inner.scopes])],
    allow: [...(outer?.allow ?? []), ...innerAllow],
    policy: combinePolicies(outer?.policy, inner.policy),
  };
}

// Each run passes both policies: the handler of the mounted tool is already wrapped in that of its server.
function combinePolicies(
  outer: ToolPolicy | undefined,
  inner: ToolPolicy | undefined,
): ToolPolicy | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return {
    ...outer,
    async admits(caller: Caller, input: unknown) {
      return (await outer.admits(caller, input)) && (await inner.admits(caller, input));
    },
    async allows(caller, input) {
      return (await outer.allows(caller, input)) && (await inner.allows(caller, input));
    },
  };
}
