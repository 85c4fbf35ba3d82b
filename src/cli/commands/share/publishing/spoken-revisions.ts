// The revisions that a server really speaks: one connection for each.

import { connect } from '../../../../client.js';
import type { ConnectOptions } from '../../../../connect/targets/options.js';
import type { Target } from '../../../../connect/targets/target.js';
import { type Revision, revisions } from '../../../../protocol/tables/revisions.js';

const MAX_WAIT_MS = 10_000;

/** The revisions that a server speaks, oldest first. Only the one of the options is tried if they name one. */
export async function spokenRevisions(target: Target, options: ConnectOptions): Promise<readonly Revision[]> {
  const spoken: Revision[] = [];
  for (const revision of options.revision === undefined ? revisions : [options.revision]) {
    options.signal?.throwIfAborted();
    const client = await connect(target, { connectTimeoutMs: MAX_WAIT_MS, ...options, revision }).catch(
      () => undefined,
    );
    if (client?.server.revision === revision) spoken.push(revision);
    await client?.close();
  }
  options.signal?.throwIfAborted();
  return spoken;
}
