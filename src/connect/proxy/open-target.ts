// The links of a proxy to its server.

import { PausableTimeout } from '../../async/pausable-timeout.js';
import { waitForLink } from '../../client/connection/wait-for-link.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenLink } from '../../protocol/link.js';
import { targetsOf, type UsableTarget, useFirst } from '../open/first-target.js';
import { linkOpener } from '../open/opener.js';
import { checkTargets } from '../targets/check-target.js';
import type { ConnectOptions, Runtime } from '../targets/options.js';
import type { OpenableTarget, Target } from '../targets/target.js';

/** The way to open a link to a server. */
export interface TargetLink {
  readonly open: OpenLink;
  /** The longest time that opening may take. No limit for several targets, since `open` limits the time of each. */
  readonly timeoutMs: number;
}

/** Makes the function that opens links to a server, of whatever kind. It says at once if the target is none. */
export function targetOpener(runtime: Runtime): (target: Target, options: ConnectOptions) => TargetLink {
  const openLinkTo = linkOpener(runtime);
  return function openTarget(target, options) {
    const targets = targetsOf(target);
    if (targets.some(({ kind }) => kind === 'config' || kind === 'config-file'))
      throw new McpError('invalid_request', 'A proxy has one server. Use gateway() for a config of several.');
    checkTargets(target);
    const { connectTimeoutMs: timeoutMs = 30_000 } = options;
    const hasOne = targets.length === 1;
    function openOne(one: UsableTarget): OpenLink {
      const open = openLinkTo(one as OpenableTarget, options);
      return hasOne ? open : withTimeLimit(open, timeoutMs);
    }
    return {
      open: (events, open) =>
        useFirst(targets, { runtime, signal: open.signal, use: (one) => openOne(one)(events, open) }),
      timeoutMs: hasOne ? timeoutMs : Number.POSITIVE_INFINITY,
    };
  };
}

/** A target that does not answer must not use up the time of those after it. */
function withTimeLimit(open: OpenLink, ms: number): OpenLink {
  return async function openInTime(events, options) {
    const { whileAsking = (work) => work() } = events;
    const limit = new PausableTimeout(
      ms,
      () => new McpError('timeout', `The server was not ready within ${ms} ms (connectTimeoutMs)`),
    );
    const signal = AbortSignal.any([options.signal, limit.signal]);
    const paused: typeof whileAsking = (work) => limit.pauseFor(() => whileAsking(work));
    try {
      const opening = open({ ...events, whileAsking: paused }, { ...options, signal });
      options.waitUntil?.(opening.then(() => undefined));
      return await waitForLink(opening, signal);
    } finally {
      limit.end();
    }
  };
}
