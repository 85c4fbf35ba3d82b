/** The published revisions of the Model Context Protocol, oldest first. */
export const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

/** A published revision of the Model Context Protocol, named by its date. */
export type Revision = (typeof revisions)[number];

/** The newest revision, which servers and clients speak. Older ones are translated. */
export const newestRevision: Revision = '2026-07-28';
