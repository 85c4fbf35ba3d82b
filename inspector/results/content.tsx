import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { JsonObject } from '../../src/jsonrpc/message.js';
import { clean, cleanLine } from '../../src/tooling/clean.js';
import { Badge } from '../parts/badge.js';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { MessageWithRef } from '../parts/thrown-error.js';
import { CodeBlock } from '../parts/values/code-block.js';
import { bytes } from '../parts/values/format.js';
import { JsonTree } from '../parts/values/json-tree.js';
import { looksLikeMarkdown } from '../parts/values/markdown/blocks.js';
import { Markdown } from '../parts/values/markdown/markdown.js';
import { addressOf } from '../state/route.js';
import { Media } from './media.js';
import type { Block } from './read-outcome.js';

const SHOWN_TEXT = 50_000;
/** The message of an error that was masked is short. */
const MAX_REF = 500;

/** Blocks of content: text, pictures, sound, links and embedded resources. */
export function Content({ blocks }: { readonly blocks: readonly Block[] }): VNode {
  return (
    <div class="results-content">
      {blocks.map(({ content, role }, at) => (
        <div key={at} class="results-block">
          {role !== undefined && <Badge>{cleanLine(role, 20)}</Badge>}
          <BlockView content={content} />
        </div>
      ))}
    </div>
  );
}

function BlockView({ content }: { readonly content: JsonObject }): VNode {
  const type = content['type'];
  const mime = stringIn(content, 'mimeType');
  switch (type) {
    case 'text':
      return <Text text={stringIn(content, 'text') ?? ''} />;
    case 'image':
    case 'audio':
      return <Media data={stringIn(content, 'data') ?? ''} mimeType={mime ?? ''} />;
    case 'resource_link':
      return <ResourceLink content={content} />;
    case 'resource':
      return <Embedded resource={content['resource']} />;
    default:
      return <JsonTree value={content} label="Content of an unknown kind" />;
  }
}

/** Text as it is, or as Markdown if it is written so. */
function Text({ text, mimeType }: { readonly text: string; readonly mimeType?: string | undefined }): VNode {
  const isMarkdown = mimeType === 'text/markdown' || (mimeType === undefined && looksLikeMarkdown(text));
  const isPlain = useSignal(false);
  if (mimeType === 'application/json' || mimeType?.endsWith('+json'))
    return <CodeBlock text={text} language="json" />;
  if (text.length > SHOWN_TEXT) return <CodeBlock text={text} label="Text" />;
  return (
    <div class="results-text">
      {isMarkdown && (
        <Button
          look="quiet"
          class="results-as"
          isPressed={isPlain.value}
          onClick={() => {
            isPlain.value = !isPlain.value;
          }}
        >
          As text
        </Button>
      )}
      {isMarkdown && !isPlain.value ? <Markdown text={text} /> : <PlainText text={text} />}
    </div>
  );
}

function PlainText({ text }: { readonly text: string }): VNode {
  return <pre class="wraps">{text.length < MAX_REF ? <MessageWithRef text={text} /> : clean(text)}</pre>;
}

function ResourceLink({ content }: { readonly content: JsonObject }): VNode {
  const uri = stringIn(content, 'uri') ?? '';
  const title = stringIn(content, 'title') ?? stringIn(content, 'name') ?? uri;
  const description = stringIn(content, 'description');
  return (
    <div class="results-link">
      <Icon name="link" />
      <div>
        <a href={addressOf('resources', uri)}>{cleanLine(title, 120)}</a>{' '}
        <span class="mono muted">{cleanLine(uri, 200)}</span>
        {description !== undefined && <p class="muted">{cleanLine(description, 300)}</p>}
      </div>
    </div>
  );
}

function Embedded({ resource }: { readonly resource: unknown }): VNode {
  if (typeof resource !== 'object' || resource === null) return <JsonTree value={resource} />;
  const object = resource as JsonObject;
  const uri = stringIn(object, 'uri') ?? '';
  const mime = stringIn(object, 'mimeType');
  const text = stringIn(object, 'text');
  const blob = stringIn(object, 'blob');
  return (
    <figure class="results-embedded">
      <figcaption class="label muted">
        <a class="mono" href={addressOf('resources', uri)}>
          {cleanLine(uri, 200)}
        </a>
        {mime !== undefined && <span>{cleanLine(mime, 60)}</span>}
        {text !== undefined && <span>{bytes(text.length)}</span>}
      </figcaption>
      {text !== undefined && <Text text={text} mimeType={mime} />}
      {blob !== undefined && <Media data={blob} mimeType={mime ?? 'application/octet-stream'} name={uri} />}
    </figure>
  );
}

function stringIn(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}
