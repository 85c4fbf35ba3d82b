import type { VNode } from 'preact';
import { clean } from '../../src/tooling/clean.js';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { CodeBlock } from '../parts/values/code-block.js';
import { run } from '../state/api.js';
import { connection, live, logs } from '../state/store.js';

const LAST_LINES = 20;

/** The sentence about a connection that worked and is lost, with a way back. The page below stays readable. */
export function ConnectionBanner(): VNode | null {
  const view = connection.value;
  if (live.value === 'lost')
    return (
      <div class="frame-banner" role="alert">
        <Icon name="warning" />
        <p>The inspector does not answer: is its command still running? The page tries again by itself.</p>
      </div>
    );
  if (view?.connectedAt === undefined || view.status === 'ready' || view.status === 'connecting') return null;
  const { id, status, failure, process } = view;
  const isOver = status !== 'reconnecting';
  const lines = isOver ? logs.value.filter((line) => line.connection === id && line.source === 'stderr') : [];
  return (
    <div class="frame-banner" role="alert">
      <Icon name="warning" />
      <div class="frame-banner-body">
        <p>
          {isOver ? 'The connection is closed.' : 'The connection is lost: the client reconnects.'}{' '}
          {process?.exit !== undefined && `${clean(process.exit)} `}
          {failure && `${clean(failure.message)} ${clean(failure.advice ?? '')}`}
        </p>
        {lines.length > 0 && (
          <details>
            <summary>The last lines of stderr</summary>
            <CodeBlock
              text={lines
                .slice(-LAST_LINES)
                .map(({ text }) => text)
                .join('\n')}
              label="stderr"
            />
          </details>
        )}
      </div>
      <Button icon="again" onClick={() => void run('reconnect', { connection: id }).catch(() => undefined)}>
        {isOver ? (process === undefined ? 'Connect again' : 'Start again') : 'Try now'}
      </Button>
    </div>
  );
}
