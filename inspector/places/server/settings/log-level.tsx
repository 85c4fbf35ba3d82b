import type { VNode } from 'preact';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import { has } from '../../../../src/protocol/tables/features.js';
import type { Revision } from '../../../../src/protocol/tables/revisions.js';
import { run } from '../../../state/api.js';
import { useCommand } from '../../../state/command.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** The least severe log messages that the server is asked for. */
export function LogLevel({ connection }: { readonly connection: ConnectionView }): VNode {
  const command = useCommand();
  if (connection.server !== undefined && !('logging' in connection.server.capabilities))
    return <span class="muted">the server does not offer logging</span>;
  // Of the newest revision, each call asks for its messages; a session begins with a level that the server chooses.
  const isAsked = has(connection.revision as Revision, 'requestMetadata');
  return (
    <>
      <select
        class="field server-select"
        aria-label="Log level"
        value={connection.logLevel ?? ''}
        disabled={connection.status !== 'ready' || command.isRunning.value}
        onChange={({ currentTarget: { value } }) =>
          void command.start(() => run('logLevel', { connection: connection.id, level: value || undefined }))
        }
      >
        <option value="">{isAsked ? 'none' : 'as the server decides'}</option>
        {LEVELS.map((level) => (
          <option key={level} value={level}>
            {level}
          </option>
        ))}
      </select>
      {command.failure.value !== undefined && (
        <span class="server-exit">{command.failure.value.message}</span>
      )}
    </>
  );
}
