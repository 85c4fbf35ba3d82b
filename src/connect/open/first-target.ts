// The targets that a program may mean, tried in order: those of an array, and the process that runs a script. `connect` puts a client
// on the first that works, `proxy` and `gateway` a forwarder.

import { McpError } from '../../protocol/errors.js';
import type { Runtime } from '../targets/options.js';
import { type ResolvedTarget, resolveTarget, type Target } from '../targets/target.js';
import { nameOf, transportOf } from '../targets/target-names.js';
import { Attempts } from './attempts.js';
import { unsupported } from './opener.js';

/** A target that is not an array. */
export type SingleTarget = Exclude<ResolvedTarget, { kind: 'list' }>;

/** A target whose script was looked up. */
export type UsableTarget = Exclude<SingleTarget, { kind: 'script' }>;

/** The targets to try, in order: those of an array, or the target itself. Throws if one of them is not a target. */
export function targetsOf(target: Target): readonly SingleTarget[] {
  const targets = flatten(resolveTarget(target));
  if (targets.length === 0) throw new McpError('invalid_request', 'The array of targets is empty.');
  return targets;
}

function flatten(resolved: ResolvedTarget): readonly SingleTarget[] {
  if (resolved.kind !== 'list') return [resolved];
  return resolved.targets.flatMap((target) => flatten(resolveTarget(target)));
}

export interface FirstParts<Result> {
  readonly runtime: Runtime;
  /** Uses one target. The next one is tried if this rejects. */
  readonly use: (target: UsableTarget) => Promise<Result>;
  /** Stops the attempts. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns the result of the first target that can be used. If there is none, the error names all attempts. */
export async function useFirst<Result>(
  targets: readonly SingleTarget[],
  { runtime, use, signal }: FirstParts<Result>,
): Promise<Result> {
  const { withScript = unsupported('start a process') } = runtime;
  const attempts = new Attempts();
  for (const target of targets) {
    try {
      return await (target.kind === 'script'
        ? withScript(target.path, (server) => use({ kind: 'process', server }))
        : use(target));
    } catch (thrown) {
      if (targets.length === 1) throw thrown;
      const error = attempts.add(thrown, { target: nameOf(target), transport: transportOf(target) });
      if (signal?.aborted) throw error;
    }
  }
  throw attempts.toError();
}
