import { type Revision, revisions } from './revisions.js';

// The one place where revisions are compared. Everything else asks `has(revision, feature)`.

export interface RevisionSpan {
  /** The first revision that has the feature. */
  readonly since: Revision;
  /** The first revision that no longer has the feature. */
  readonly until?: Revision;
}

export type Feature =
  | 'handshake'
  | 'requestMetadata'
  | 'batching'
  | 'pollingStreams'
  | 'structuredContent'
  | 'resourceLinks'
  | 'audio'
  | 'completionsCapability'
  | 'urlElicitation'
  | 'coreTasks';

const features: Readonly<Record<Feature, RevisionSpan>> = {
  handshake: { since: '2024-11-05', until: '2026-07-28' },
  audio: { since: '2025-03-26' },
  batching: { since: '2025-03-26', until: '2025-06-18' },
  completionsCapability: { since: '2025-03-26' },
  resourceLinks: { since: '2025-06-18' },
  structuredContent: { since: '2025-06-18' },
  coreTasks: { since: '2025-11-25', until: '2026-07-28' },
  pollingStreams: { since: '2025-11-25', until: '2026-07-28' },
  urlElicitation: { since: '2025-11-25' },
  requestMetadata: { since: '2026-07-28' },
};

/** Whether `revision` has the feature. */
export function has(revision: Revision, feature: Feature): boolean {
  return within(revision, features[feature]);
}

/** Whether `revision` lies in the span. */
export function within(revision: Revision, span: RevisionSpan): boolean {
  const at = revisions.indexOf(revision);
  return (
    at >= revisions.indexOf(span.since) && (span.until === undefined || at < revisions.indexOf(span.until))
  );
}

/** The first of our revisions that is among the peer's, which may be any value. */
export function mutual(ours: readonly Revision[], theirs: unknown): Revision | undefined {
  return Array.isArray(theirs) ? ours.find((revision) => theirs.includes(revision)) : undefined;
}

/** The revisions that open a session with a handshake, newest first. */
export const sessionRevisions: readonly Revision[] = revisions
  .filter((revision) => has(revision, 'handshake'))
  .reverse();

/** The revision for a session whose client asks for an unknown one. */
export const newestSession: Revision = sessionRevisions[0] as Revision;

/** The revision of a client that does not say which one it speaks. Spec 2025-11-25, Transports, Protocol Version Header. */
export const assumedSession: Revision = '2025-03-26';

/** The revisions whose requests carry their own metadata, newest first. */
export const modernRevisions: readonly Revision[] = revisions
  .filter((revision) => has(revision, 'requestMetadata'))
  .reverse();
