import type { VNode } from 'preact';
import type { AuthHop } from '../../../../src/inspector/contract/connection.js';
import { isObject, type JsonObject } from '../../../../src/jsonrpc/message.js';
import { clean, cleanLine } from '../../../../src/tooling/clean.js';
import { CodeBlock } from '../../../parts/values/code-block.js';
import { clock, duration } from '../../../parts/values/format.js';
import { expectation, stepName } from './auth-words.js';

/** One step of the authorization: what was asked, and what came back. */
export function AuthHopView({ hop, number }: { readonly hop: AuthHop; readonly number: number }): VNode {
  const { at, ms, outcome, detail, request, reply } = hop;
  const wanted = outcome === 'failed' ? expectation(hop) : undefined;
  return (
    <section class={`auth-hop ${outcome}`} aria-label={`Step ${number}`}>
      <h2>
        {number} {cleanLine(stepName(hop), 80)}{' '}
        <span class="label muted">
          {clock(at, true)}
          {ms !== undefined && `, ${duration(ms)}`}
        </span>
      </h2>
      {detail !== undefined && (
        <p class={outcome === 'failed' ? 'server-exit' : ''}>{clean(detail.slice(0, 2000))}</p>
      )}
      {wanted !== undefined && <p>{wanted}</p>}
      <div class="auth-exchange">
        {request !== undefined && (
          <div>
            <h3>Request</h3>
            <p class="mono auth-line">
              <strong>{cleanLine(request.method, 20)}</strong> {cleanLine(request.url, 2000)}
            </p>
            <Message label="Request" headers={request.headers} body={request.body} />
          </div>
        )}
        {reply !== undefined && (
          <div>
            <h3>Reply</h3>
            <p class="mono auth-line">
              <strong>{reply.status}</strong>
            </p>
            <Message label="Reply" headers={reply.headers} body={reply.body} />
          </div>
        )}
      </div>
      {request === undefined && reply === undefined && (
        <p class="muted">This step is made in your browser: the inspector sees only how it ends.</p>
      )}
    </section>
  );
}

function Message({
  label,
  headers,
  body,
}: {
  readonly label: string;
  readonly headers: JsonObject;
  readonly body: string | undefined;
}): VNode {
  const rows = Object.entries(headers).slice(0, 60);
  return (
    <>
      {rows.length > 0 && (
        <dl class="auth-headers mono">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt class="muted">{cleanLine(name, 80)}</dt>
              <dd>{cleanLine(String(value), 1000)}</dd>
            </div>
          ))}
        </dl>
      )}
      {body !== undefined && body !== '' && (
        <CodeBlock text={pretty(body)} language="json" label={`${label} body`} />
      )}
    </>
  );
}

/** JSON with line breaks, a form as one line for each field, and everything else as it is. */
function pretty(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    if (isObject(value) || Array.isArray(value)) return JSON.stringify(value, undefined, 2);
  } catch {
    if (/^[\w.%+-]+=/.test(body.slice(0, 200)) && !body.includes('\n'))
      return [...new URLSearchParams(body)].map(([name, value]) => `${name}: ${value}`).join('\n');
  }
  return body;
}
