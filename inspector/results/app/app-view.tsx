import './app.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ToolView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { sandboxOrigin, stories } from '../../state/store.js';
import { ApprovalPanel } from './approval-panel.js';
import { Approvals } from './approvals.js';
import { type AppNote, openApp } from './open-app.js';

const MAX_NOTES = 50;
/** An app that talks without end must not keep the page busy: what it says in this time is shown together. */
const NOTES_MS = 100;

/** The app of a tool, in a frame at an origin of its own. Its requests to the server are approved here first. */
export function AppView({ story: id, tool }: { readonly story: number; readonly tool: ToolView }): VNode {
  const container = useRef<HTMLDivElement>(null);
  const round = useSignal(0);
  const approvals = useMemo(() => new Approvals(), [id, round.value]);
  const state = useSignal<'opening' | 'open' | 'closed'>('opening');
  const reason = useSignal('');
  const notes = useSignal<readonly AppNote[]>([]);
  const origin = sandboxOrigin.value;
  const connection = stories.value.get(id)?.connection;

  useEffect(() => {
    const box = container.current;
    const story = stories.value.get(id);
    if (box === null || story === undefined || origin === undefined) return undefined;
    state.value = 'opening';
    notes.value = [];
    const closing = new AbortController();
    const said: AppNote[] = [];
    let showing: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      showing = undefined;
      notes.value = [...said];
    };
    const closed = (why: string): void => {
      if (closing.signal.aborted) return;
      state.value = 'closed';
      reason.value = why;
      approvals.close();
    };
    openApp({
      story,
      tool,
      container: box,
      sandbox: `${origin}/`,
      approve: (request) => approvals.approve(request),
      note: (note) => {
        said.push(note);
        if (said.length > MAX_NOTES) said.shift();
        showing ??= setTimeout(show, NOTES_MS);
      },
      onClosed: closed,
      signal: closing.signal,
    }).then(
      () => {
        if (!closing.signal.aborted && state.value === 'opening') state.value = 'open';
      },
      (error: unknown) => closed(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      closing.abort();
      clearTimeout(showing);
      approvals.close();
    };
  }, [id, round.value, origin]);

  if (origin === undefined)
    return <p class="muted">Apps are off: the inspector has no second address to show them at.</p>;
  return (
    <div class="app">
      <p class="label muted">
        {cleanLine(tool.app ?? '', 120)}
        {state.value === 'opening' && ' is opening.'}
        {state.value === 'open' && ' runs in a frame that reaches nothing but what you allow.'}
      </p>
      {connection !== undefined && <ApprovalPanel approvals={approvals} />}
      {state.value === 'closed' && (
        <ErrorPanel failure={{ code: 'app_closed', message: reason.value }} title="The app was closed.">
          <Button
            icon="again"
            onClick={() => {
              round.value += 1;
            }}
          >
            Open it again
          </Button>
        </ErrorPanel>
      )}
      <div ref={container} class="app-frame" hidden={state.value === 'closed'} />
      {notes.value.length > 0 && (
        <details class="app-notes" open={true}>
          <summary>What the app said: {notes.value.length}</summary>
          <ul>
            {notes.value.map((note, at) => (
              <li key={at}>
                <span class="label muted">{note.kind}</span>{' '}
                <span class="mono">{cleanLine(note.text, 500)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
