import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { run } from '../../state/api.js';

/** The revision that is spoken, as a date. Choosing another one connects anew. */
export function RevisionSwitch({ connection }: { readonly connection: ConnectionView }): VNode | null {
  const { id, revision, revisions, requestedRevision, transport } = connection;
  if (revision === undefined && requestedRevision === undefined) return null;
  const shown = revision ?? requestedRevision ?? '';
  // A server in the same process speaks the newest one only.
  if (transport === 'in-process' || revisions.length === 0)
    return <span class="badge frame-revision">{shown}</span>;
  return (
    <span class="badge frame-revision is-choice">
      {shown}
      <select
        aria-label={`Protocol revision ${shown}: choose another one`}
        title="Protocol revision"
        value={requestedRevision ?? ''}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          void run('reconnect', { connection: id, ...(chosen && { revision: chosen }) }).catch(
            () => undefined,
          );
        }}
      >
        <option value="">newest that both speak</option>
        {revisions.map((each) => (
          <option key={each} value={each}>
            {each} only
          </option>
        ))}
      </select>
    </span>
  );
}
