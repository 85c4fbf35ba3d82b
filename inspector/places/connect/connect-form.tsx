import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ConnectionView, TargetSpec } from '../../../src/inspector/contract/connection.js';
import { revisions } from '../../../src/protocol/tables/revisions.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { isNarrow } from '../../state/media.js';
import { isFile, unnamed } from './name-caller.js';
import { isOpening, open, openFailure } from './open.js';
import { PairsField, pairsOf } from './pairs-field.js';

/** One field for the address, and details for those who need them. */
export function ConnectForm({
  view,
}: {
  /** A connection above the form that is not ready. The next thing to do is there, so the cursor is not taken from it. */
  readonly view: ConnectionView | undefined;
}): VNode {
  const text = useSignal('');
  const token = useSignal('');
  const headers = useSignal('');
  const environment = useSignal('');
  const folder = useSignal('');
  const caller = useSignal('');
  const scopes = useSignal('');
  const revision = useSignal('');
  const field = useRef<HTMLTextAreaElement>(null);
  const callerField = useRef<HTMLInputElement>(null);
  const details = useRef<HTMLDetailsElement>(null);
  /** The connection that this one replaces: the same file, called by somebody. */
  const before = useSignal(unnamed.value);
  useEffect(() => {
    const file = before.value;
    unnamed.value = undefined;
    if (file !== undefined) {
      text.value = typedOf(file);
      if (details.current) details.current.open = true;
      callerField.current?.focus();
      return;
    }
    if (view === undefined && !matchMedia('(pointer: coarse)').matches) field.current?.focus();
  }, []);
  const hasFailed = view?.status === 'failed' || view?.status === 'closed';
  useEffect(() => {
    // An address that failed is often almost right.
    if (hasFailed && text.value === '') text.value = typedOf(view);
  }, [hasFailed, view?.id]);
  const isJson = text.value.trimStart().startsWith('{');
  const submit = () => {
    const typed = text.value.trim();
    if (typed === '' || isOpening.value) return;
    const spec: TargetSpec = {
      text: typed,
      ...(token.value && { token: token.value.trim() }),
      ...(headers.value.trim() && { headers: pairsOf(headers.value, ':') }),
      ...(environment.value.trim() && { env: pairsOf(environment.value, '=') }),
      ...(folder.value.trim() && { cwd: folder.value.trim() }),
      ...(caller.value.trim() && { as: caller.value.trim() }),
      ...(scopes.value.trim() && { scopes: scopes.value.split(/[\s,]+/).filter((scope) => scope !== '') }),
      ...(revision.value && { revision: revision.value }),
    };
    const isSame = before.value !== undefined && typedOf(before.value) === typed;
    void open(spec, isSame ? before.value?.id : undefined);
    before.value = undefined;
  };
  return (
    <form
      class="connect-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div class="connect-line">
        <textarea
          ref={field}
          class="field mono"
          aria-label="A URL, a command, or a pasted mcpServers JSON"
          aria-describedby="connect-hint"
          placeholder={
            isNarrow.value ? 'a URL or a command' : 'http://localhost:3000/mcp   or   node server.js'
          }
          rows={isJson ? Math.min(12, text.value.split('\n', 12).length) : 1}
          spellcheck={false}
          autocapitalize="off"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            // In JSON, Enter is a new line.
            if (event.key !== 'Enter' || event.shiftKey || (isJson && !event.ctrlKey && !event.metaKey))
              return;
            event.preventDefault();
            submit();
          }}
        />
        <Button look="main" type="submit" isDisabled={isOpening.value}>
          Connect
        </Button>
      </div>
      <p class="muted" id="connect-hint">
        One field: a URL, a command, or a pasted mcpServers JSON.
      </p>
      <details class="connect-details" ref={details}>
        <summary>Headers, token, environment, caller, revision</summary>
        <div class="connect-details-grid">
          <label for="connect-token">Token</label>
          <input
            id="connect-token"
            class="field mono"
            type="password"
            autocomplete="off"
            placeholder="sent as Authorization: Bearer"
            value={token.value}
            onInput={(event) => {
              token.value = event.currentTarget.value;
            }}
          />
          <PairsField label="Headers" text={headers} separator=":" placeholder="X-Team: blue" />
          <PairsField label="Environment" text={environment} separator="=" placeholder="API_KEY=…" />
          <label for="connect-folder">Folder</label>
          <input
            id="connect-folder"
            class="field mono"
            placeholder="in which a command starts"
            autocomplete="off"
            spellcheck={false}
            value={folder.value}
            onInput={(event) => {
              folder.value = event.currentTarget.value;
            }}
          />
          <label for="connect-caller">Caller</label>
          <input
            ref={callerField}
            id="connect-caller"
            class="field mono"
            placeholder="the subject, or JSON with claims, for a file of your own"
            autocomplete="off"
            spellcheck={false}
            value={caller.value}
            onInput={(event) => {
              caller.value = event.currentTarget.value;
            }}
          />
          <label for="connect-scopes">Scopes</label>
          <input
            id="connect-scopes"
            class="field mono"
            placeholder="of that caller: read, write"
            autocomplete="off"
            spellcheck={false}
            value={scopes.value}
            onInput={(event) => {
              scopes.value = event.currentTarget.value;
            }}
          />
          <label for="connect-revision">Revision</label>
          <select
            id="connect-revision"
            class="field"
            value={revision.value}
            onChange={(event) => {
              revision.value = event.currentTarget.value;
            }}
          >
            <option value="">the newest that both speak</option>
            {revisions.toReversed().map((each) => (
              <option key={each} value={each}>
                {each} only
              </option>
            ))}
          </select>
        </div>
      </details>
      {openFailure.value && <ErrorPanel title="Nothing was tried." failure={openFailure.value} />}
    </form>
  );
}

/** The address of a connection as the field takes it. The caller of a file has a field of its own. */
function typedOf(view: ConnectionView): string {
  const { address, typed } = view;
  return isFile(view) || /^(https?|wss?):/.test(address) ? address : typed.replace(/^-- /, '');
}
