// The combinations of transports and revisions to test over.

import { modernRevisions, sessionRevisions } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';

/** A transport and a revision to test over. */
export interface TestTransport {
  /** The transport. `http+sse` is that of revision 2024-11-05. */
  readonly over: 'in-process' | 'http' | 'http+sse' | 'stdio' | 'websocket';
  /** The protocol revision. */
  readonly revision: Revision;
  /** Both in one string, such as `http 2026-07-28`, for the names of tests. */
  readonly name: string;
}

const [newest] = modernRevisions as readonly [Revision];
/** The only revision with HTTP+SSE. */
const oldest = sessionRevisions.at(-1) as Revision;
const all = [...modernRevisions, ...sessionRevisions];

const revisionsOf: Readonly<Record<TestTransport['over'], readonly Revision[]>> = {
  'in-process': [newest],
  http: all.filter((revision) => revision !== oldest),
  'http+sse': [oldest],
  stdio: all,
  websocket: all,
};

/** Every combination of transport and revision, for `test.each(wires)`: by transport, the newest revision first. */
export const wires: readonly TestTransport[] = (
  Object.entries(revisionsOf) as [TestTransport['over'], readonly Revision[]][]
).flatMap(([over, revisions]) =>
  revisions.map((revision) => ({ over, revision, name: `${over} ${revision}` })),
);

/** Whether the client's own headers reach the server over this transport. */
export function carriesHeaders({ over }: TestTransport): boolean {
  return over !== 'in-process' && over !== 'stdio';
}

/** The first combination that matches. */
export function wireFor(
  over: TestTransport['over'] | undefined,
  revision: Revision | undefined,
): TestTransport {
  const fits = (wire: TestTransport): boolean =>
    (over === undefined || wire.over === over) && (revision === undefined || wire.revision === revision);
  const wire = wires.find(fits);
  if (wire !== undefined) return wire;
  const revisions = over !== undefined && Object.hasOwn(revisionsOf, over) ? revisionsOf[over] : undefined;
  const unknown = over === undefined ? `revision "${revision}"` : `transport "${over}"`;
  throw new TypeError(
    revisions === undefined
      ? `There is no ${unknown}. Choose one of: ${wires.map(({ name }) => name).join(', ')}.`
      : `The transport ${over} does not carry revision ${revision}. It carries: ${revisions.join(', ')}.`,
  );
}
