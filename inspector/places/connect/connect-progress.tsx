import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ConnectionView, ConnectStep } from '../../../src/inspector/contract/connection.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { Icon } from '../../parts/icon.js';
import { lazy } from '../../parts/lazy.js';
import { isFocusNowhere } from '../../parts/popup/layers.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { duration } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { logs } from '../../state/store.js';
import { now, useClock } from '../../timeline/now.js';
import { open } from './open.js';

const Auth = lazy(() => import('../server/auth/auth.js').then((module) => module.Auth));

const LAST_LINES = 20;

/** Every step of connecting with its time; if it failed, what happened and what to do. */
export function ConnectProgress({ connection }: { readonly connection: ConnectionView }): VNode {
  const { id, address, status, steps, failure, suggestion, process, auth } = connection;
  const isOver = status === 'failed' || status === 'closed';
  const again = () => void run('reconnect', { connection: id }).catch(() => undefined);
  useKeys({ r: () => (isOver ? again() : false) });
  const actions = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOver && isFocusNowhere()) actions.current?.querySelector<HTMLElement>('.button.main')?.focus();
  }, [isOver]);
  const lines = logs.value
    .filter((line) => line.connection === id && line.source === 'stderr')
    .slice(-LAST_LINES);
  return (
    <section class="connect-progress" aria-live="polite">
      <h1>
        {isOver ? (status === 'closed' ? 'Closed: ' : 'Could not connect to ') : 'Connecting to '}
        <span class="mono">{cleanLine(address, 200)}</span>
      </h1>
      {failure && (
        <div class="connect-failure">
          <p class="connect-message">{clean(failure.message)}</p>
          {failure.advice !== undefined && <p>{clean(failure.advice)}</p>}
          {process?.exit !== undefined && <p>{clean(process.exit)}</p>}
        </div>
      )}
      <ol class="connect-steps">
        {steps.map((step) => (
          <Step key={`${step.at} ${step.what}`} step={step} />
        ))}
      </ol>
      {lines.length > 0 && isOver && (
        <CodeBlock text={lines.map(({ text }) => text).join('\n')} label="The last lines of stderr" />
      )}
      {auth.state !== 'none' && auth.state !== 'token' && <Auth connection={connection} />}
      <div class="connect-actions" ref={actions}>
        {suggestion !== undefined && (
          <Button look="main" onClick={() => void open({ text: suggestion })}>
            Use {cleanLine(suggestion, 120)}
          </Button>
        )}
        {isOver && (
          <Button look={suggestion === undefined ? 'main' : 'plain'} icon="again" keys="r" onClick={again}>
            {process === undefined ? 'Try again' : 'Start again'}
          </Button>
        )}
        {!connection.isFixed && (
          <Button onClick={() => void run('disconnect', { connection: id }).catch(() => undefined)}>
            {isOver ? 'Remove' : 'Stop'}
          </Button>
        )}
      </div>
    </section>
  );
}

const STEP_ICONS = { running: 'play', ok: 'check', failed: 'cross' } as const;

function Step({ step }: { readonly step: ConnectStep }): VNode {
  const { what, at, ms, outcome, detail } = step;
  return (
    <li class={`connect-step is-${outcome}`}>
      <Icon name={STEP_ICONS[outcome]} label={outcome} size={14} />
      <span class="mono connect-what">{cleanLine(what, 300)}</span>
      <span class="connect-detail">{detail !== undefined && clean(detail.slice(0, 400))}</span>
      <span class="mono muted connect-time">{ms === undefined ? <Running since={at} /> : duration(ms)}</span>
    </li>
  );
}

function Running({ since }: { readonly since: number }): VNode {
  useClock(true);
  return <>{duration(Math.max(0, now.value - since))}</>;
}
