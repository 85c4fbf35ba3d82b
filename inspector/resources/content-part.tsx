import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonObject } from '../../src/jsonrpc/message.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { Button } from '../parts/button.js';
import { CodeBlock } from '../parts/code-block.js';
import { bytes } from '../parts/format.js';
import { JsonTree } from '../parts/json-tree.js';
import { Text } from '../results/content.js';
import { Media } from '../results/media.js';
import { DifferenceView } from './difference-view.js';
import { base64Bytes, hexHead } from './hex.js';
import { stringIn } from './listed.js';

const MAX_PARSED = 2_000_000;

/** One part of a resource by its type, and what changed in it since the read before. */
export function ContentPart({
  part,
  before,
  isOnly,
}: {
  readonly part: JsonObject;
  /** The same part in the read before. */
  readonly before: JsonObject | undefined;
  readonly isOnly: boolean;
}): VNode {
  const text = stringIn(part, 'text');
  const blob = stringIn(part, 'blob');
  const uri = stringIn(part, 'uri') ?? '';
  const type = stringIn(part, 'mimeType');
  const old = before && stringIn(before, 'text');
  return (
    <section class="resources-part" aria-label={cleanLine(uri, 100)}>
      {!isOnly && (
        <h3 class="mono">
          {cleanLine(uri, 200)} <span class="label muted">{type && cleanLine(type, 60)}</span>
        </h3>
      )}
      {text !== undefined && <TextPart text={text} type={type} before={old === text ? undefined : old} />}
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

function TextPart({
  text,
  type,
  before,
}: {
  readonly text: string;
  readonly type: string | undefined;
  readonly before: string | undefined;
}): VNode {
  const json = useMemo(() => jsonOf(text, type), [text, type]);
  const oldJson = useMemo(() => (before === undefined ? undefined : jsonOf(before, type)), [before, type]);
  const views = [
    ...(before !== undefined && json === undefined ? ['Changes'] : []),
    json === undefined ? 'Content' : 'Tree',
    ...(json === undefined ? [] : ['Text']),
  ];
  const chosen = useSignal('');
  const view = views.includes(chosen.value) ? chosen.value : (views[0] ?? 'Content');
  return (
    <>
      {views.length > 1 && (
        <div class="resources-views" role="group" aria-label="Show as">
          {views.map((each) => (
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
        </div>
      )}
      {view === 'Changes' && <DifferenceView before={before ?? ''} after={text} />}
      {view === 'Tree' && json !== undefined && (
        <JsonTree
          value={json.value}
          previous={oldJson && { value: oldJson.value, name: 'the read before' }}
          label="Content"
        />
      )}
      {view === 'Text' && <CodeBlock text={text} language="json" label="Content" />}
      {view === 'Content' &&
        (isReadable(type) ? <Text text={text} mimeType={type} /> : <CodeBlock text={text} label="Content" />)}
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

/** Prose is read as such; code, HTML and everything else keeps its characters. */
function isReadable(type: string | undefined): boolean {
  return type === undefined || type === 'text/plain' || type === 'text/markdown';
}
