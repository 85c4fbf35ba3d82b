import type { VNode } from 'preact';
import { cleanLine } from '../../src/tooling/clean.js';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { CodeBlock } from '../parts/values/code-block.js';
import { counted } from '../parts/values/format.js';
import { run } from '../state/api.js';
import { connection, live } from '../state/store.js';

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
  const output = failure?.output;
  const lines = output === undefined ? [] : [...output.earlier, ...output.lines];
  return (
    <div class="frame-banner" role="alert">
      <Icon name="warning" />
      <div class="frame-banner-body">
        {output?.cause !== undefined && <p class="mono frame-banner-cause">{cleanLine(output.cause, 300)}</p>}
        <p>
          {failure && `${cleanLine(failure.message, 300)} `}
          {isOver ? 'The connection is closed.' : 'The connection is lost: the client reconnects.'}
        </p>
        {(lines.length > 0 || (failure?.message.length ?? 0) > 300) && (
          <details>
            <summary>
              {lines.length > 0 ? `The last ${counted(lines.length, 'line')} of stderr` : 'All of it'}
            </summary>
            <CodeBlock text={lines.length > 0 ? lines.join('\n') : (failure?.message ?? '')} label="stderr" />
          </details>
        )}
      </div>
      <Button icon="again" onClick={() => void run('reconnect', { connection: id }).catch(() => undefined)}>
        {isOver ? (process === undefined ? 'Connect again' : 'Start again') : 'Try now'}
      </Button>
    </div>
  );
}
