import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Button } from '../../../parts/controls/button.js';
import { CodeBlock } from '../../../parts/values/code-block.js';
import { DifferenceView } from '../../../parts/values/difference-view.js';
import { bytes } from '../../../parts/values/format.js';
import { JsonTree } from '../../../parts/values/json-tree.js';
import { looksLikeMarkdown } from '../../../parts/values/markdown/blocks.js';
import { Markdown } from '../../../parts/values/markdown/markdown.js';
import { Media } from '../../../results/media.js';
import { stringIn } from '../listed.js';
import { base64Bytes, hexHead } from './hex.js';

const MAX_PARSED = 2_000_000;

/** One part of a resource by its type, and what changed in it since the read before. */
export function ContentPart({
  part,
  before,
  isOnly,
  children,
}: {
  readonly part: JsonObject;
  /** The same part in the read before. */
  readonly before: JsonObject | undefined;
  readonly isOnly: boolean;
  /** Stands beside the ways to show it. */
  readonly children?: ComponentChildren;
}): VNode {
  const text = stringIn(part, 'text');
  const blob = stringIn(part, 'blob');
  const uri = stringIn(part, 'uri') ?? '';
  const type = stringIn(part, 'mimeType');
  const old = before && stringIn(before, 'text');
  return (
    <section class="resources-part" aria-label={cleanLine(uri, 100)}>
      {!isOnly && (
        <h2 class="mono">
          {cleanLine(uri, 200)} <span class="label muted">{type && cleanLine(type, 60)}</span>
        </h2>
      )}
      {text !== undefined ? (
        <TextPart text={text} type={type} before={old === text ? undefined : old}>
          {children}
        </TextPart>
      ) : (
        <div class="resources-views">{children}</div>
      )}
      {blob !== undefined && <BinaryPart blob={blob} type={type ?? 'application/octet-stream'} uri={uri} />}
      {text === undefined && blob === undefined && (
        <>
          <p class="muted">The server sent neither text nor bytes.</p>
          <JsonTree value={part} />
        </>
      )}
    </section>
  );
}

type View = 'Changes' | 'Tree' | 'Rendered' | 'Text';

function TextPart({
  text,
  type,
  before,
  children,
}: {
  readonly text: string;
  readonly type: string | undefined;
  /** The text of the read before, if it was another one. */
  readonly before: string | undefined;
  readonly children: ComponentChildren;
}): VNode {
  const json = useMemo(() => jsonOf(text, type), [text, type]);
  const oldJson = useMemo(() => (before === undefined ? undefined : jsonOf(before, type)), [before, type]);
  const isMarkdown = type === 'text/markdown' || (isProse(type) && looksLikeMarkdown(text));
  const views: readonly View[] = [
    ...(before !== undefined && json === undefined ? (['Changes'] as const) : []),
    ...(json !== undefined ? (['Tree'] as const) : []),
    ...(isMarkdown && json === undefined ? (['Rendered'] as const) : []),
    'Text',
  ];
  const chosen = useSignal<View | undefined>(undefined);
  const view = views.find((each) => each === chosen.value) ?? views[0];
  return (
    <>
      <div class="resources-views" role="group" aria-label="Show as">
        {views.length > 1 &&
          views.map((each) => (
            <Button
              key={each}
              look="quiet"
              isPressed={each === view}
              onClick={() => {
                chosen.value = each;
              }}
            >
              {each}
            </Button>
          ))}
        {children}
      </div>
      {view === 'Changes' && <DifferenceView before={before ?? ''} after={text} />}
      {view === 'Tree' && json !== undefined && (
        <JsonTree
          value={json.value}
          previous={oldJson && { value: oldJson.value, name: 'the read before' }}
          label="Content"
        />
      )}
      {view === 'Rendered' && <Markdown text={text} />}
      {view === 'Text' && (
        <CodeBlock text={text} language={json === undefined ? 'text' : 'json'} label="Content" />
      )}
    </>
  );
}

/** Bytes: a picture or sound as such, everything else as the beginning in hexadecimal. */
function BinaryPart({
  blob,
  type,
  uri,
}: {
  readonly blob: string;
  readonly type: string;
  readonly uri: string;
}): VNode {
  const isMedia = type.startsWith('image/') || type.startsWith('audio/');
  const rows = useMemo(() => (isMedia ? [] : hexHead(blob)), [blob, isMedia]);
  const size = base64Bytes(blob);
  return (
    <>
      {rows !== undefined && rows.length > 0 && (
        <figure class="resources-hex">
          <figcaption class="label muted">
            {size > 256 ? `The first 256 of ${bytes(size)}` : bytes(size)}
          </figcaption>
          <pre tabIndex={0}>
            {rows
              .map(({ offset, bytes: hex, characters }) => `${offset}  ${hex.padEnd(48)} ${characters}`)
              .join('\n')}
          </pre>
        </figure>
      )}
      <Media data={blob} mimeType={type} name={uri} />
    </>
  );
}

function jsonOf(text: string, type: string | undefined): { readonly value: unknown } | undefined {
  const isJson = type === 'application/json' || type?.endsWith('+json') === true;
  const looksLikeJson = type === undefined && (text.startsWith('{') || text.startsWith('['));
  if ((!isJson && !looksLikeJson) || text.length > MAX_PARSED) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function isProse(type: string | undefined): boolean {
  return type === undefined || type === 'text/plain';
}
