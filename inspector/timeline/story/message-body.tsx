import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessageHead, MessageText } from '../../../src/inspector/contract/message.js';
import type { ExchangeFacts } from '../../../src/inspector/contract/story.js';
import { isObject } from '../../../src/jsonrpc/message.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { CopyButton } from '../../parts/controls/copy-button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { bytes, clock, duration } from '../../parts/values/format.js';
import { JsonTree } from '../../parts/values/json-tree.js';
import { fetchMessage } from '../../state/api.js';
import { isRaw } from '../timeline-state.js';

/** Larger messages are shown raw: a tree of them would cost more than it says. */
const TREE_AT_MOST = 400_000;

/** One message, formatted or as it was on the wire. */
export function MessageBody({
  head,
  http,
}: {
  readonly head: MessageHead;
  readonly http?: ExchangeFacts | undefined;
}): VNode {
  const { text, failure } = useText(head.seq);
  const value =
    text === undefined || text.isCut || text.text.length > TREE_AT_MOST ? undefined : tryParse(text.text);
  const isTree = !isRaw.value && value !== undefined;
  const box = useRef<HTMLDivElement>(null);
  const toggle = (): void => {
    isRaw.value = !isRaw.value;
  };
  // Beside a tool, the key is for its result, unless one is in the timeline.
  useKeys({
    w: () =>
      box.current?.closest('.story') || box.current?.closest('.timeline')?.contains(document.activeElement)
        ? toggle()
        : false,
  });
  return (
    <div ref={box} class="message">
      <div class="message-facts label muted">
        <span>{head.from === 'client' ? 'client → server' : 'server → client'}</span>
        <span>{clock(head.at, true)}</span>
        <span>{bytes(head.bytes)}</span>
        {head.ms !== undefined && <span>{duration(head.ms)}</span>}
        {head.status !== undefined && <span>HTTP {head.status}</span>}
        <span class="timeline-gap" />
        <label class="message-raw">
          <input type="checkbox" checked={isRaw.value} aria-keyshortcuts="w" onChange={toggle} />
          Raw
        </label>
        {text && <CopyButton text={text.text} label="Copy the message" />}
      </div>
      {failure !== undefined && <p class="muted">{failure}</p>}
      {text?.isCut && <p class="muted">The message is longer than 1 MB: this is its beginning.</p>}
      {text && !isTree && <CodeBlock text={text.text} language="json" label="Message" />}
      {isTree && <Formatted value={value} />}
      {http && <Http http={http} />}
    </div>
  );
}

/** The message without the envelope that each has; `_meta` is folded. */
function Formatted({ value }: { readonly value: unknown }): VNode {
  const { body, meta } = withoutMeta(value);
  return (
    <>
      <JsonTree value={body} openDepth={4} label="Message" />
      {meta !== undefined && (
        <details class="message-meta">
          <summary class="label muted">_meta, {Object.keys(meta as object).length} fields</summary>
          <JsonTree value={meta} openDepth={3} label="_meta" />
        </details>
      )}
    </>
  );
}

function withoutMeta(value: unknown): { body: unknown; meta: unknown } {
  if (!isObject(value)) return { body: value, meta: undefined };
  const { jsonrpc: _, ...body } = value;
  for (const part of ['params', 'result']) {
    const inner = body[part];
    if (!isObject(inner) || !isObject(inner['_meta'])) continue;
    const { _meta: meta, ...rest } = inner;
    return { body: { ...body, [part]: rest }, meta };
  }
  return { body, meta: undefined };
}

/** The facts of HTTP: a detail of a round, not another log. */
function Http({ http }: { readonly http: ExchangeFacts }): VNode {
  return (
    <details class="message-http">
      <summary class="label muted">
        {cleanLine(http.method, 20)} {cleanLine(http.url, 200)}
        {http.status === undefined ? '' : ` → ${http.status}`}
      </summary>
      <Headers title="Request headers" headers={http.requestHeaders} />
      {http.responseHeaders && <Headers title="Response headers" headers={http.responseHeaders} />}
    </details>
  );
}

function Headers({
  title,
  headers,
}: {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
}): VNode {
  return (
    <>
      <h3 class="label muted">{title}</h3>
      <dl class="message-headers">
        {Object.entries(headers)
          .slice(0, 100)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{cleanLine(name)}</dt>
              <dd>{clean(value.slice(0, 2000))}</dd>
            </div>
          ))}
      </dl>
    </>
  );
}

function useText(seq: number): { text: MessageText | undefined; failure: string | undefined } {
  const [held, hold] = useState<{ seq: number; text?: MessageText; failure?: string }>({ seq });
  useEffect(() => {
    let isOver = false;
    fetchMessage(seq).then(
      (text) => isOver || hold({ seq, text }),
      (error: Error) => isOver || hold({ seq, failure: error.message }),
    );
    return () => {
      isOver = true;
    };
  }, [seq]);
  return held.seq === seq
    ? { text: held.text, failure: held.failure }
    : { text: undefined, failure: undefined };
}
