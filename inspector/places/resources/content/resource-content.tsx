import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Story } from '../../../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../../../src/jsonrpc/message.js';
import { RawSwitch } from '../../../parts/controls/raw-switch.js';
import { ErrorPanel } from '../../../parts/error-panel.js';
import { CodeBlock } from '../../../parts/values/code-block.js';
import { bytes, counted } from '../../../parts/values/format.js';
import { outcomeAddress } from '../../../state/api.js';
import { stringIn } from '../listed.js';
import { MAX_SHOWN_BYTES, useOutcome } from '../reads.js';
import { ContentPart } from './content-part.js';

const MAX_PARTS = 100;

/** The outcome of a read: its parts by their types, or as it came. */
export function ResourceContent({
  story,
  before,
}: {
  readonly story: Story;
  readonly before: Story | undefined;
}): VNode {
  const isRaw = useSignal(false);
  const { outcome, isFetching } = useOutcome(story);
  const old = useOutcome(before);
  if (story.error !== undefined)
    return <ErrorPanel failure={story.error} title="The resource could not be read." />;
  if (isFetching) return <p class="muted">Fetching {bytes(story.outcomeBytes ?? 0)}.</p>;
  if (outcome === undefined) {
    const size = story.outcomeBytes ?? 0;
    return (
      <p>
        {size > MAX_SHOWN_BYTES
          ? `${bytes(size)} are too much for a page.`
          : 'The content is no longer kept.'}{' '}
        {size > 0 && (
          <a href={outcomeAddress(story.id)} download={`resource-${story.id}.json`}>
            Download it
          </a>
        )}
      </p>
    );
  }
  const parts = partsOf(outcome);
  const earlier = new Map(partsOf(old.outcome ?? {}).map((part) => [stringIn(part, 'uri') ?? '', part]));
  const rawButton = <RawSwitch isRaw={isRaw} class="resources-raw" />;
  if (isRaw.value || parts.length === 0)
    return (
      <div class="resources-content">
        <div class="resources-views">{rawButton}</div>
        {isRaw.value ? (
          <CodeBlock text={JSON.stringify(outcome, undefined, 2)} language="json" label="Raw result" />
        ) : (
          <p class="muted">The server sent no content.</p>
        )}
      </div>
    );
  return (
    <div class="resources-content">
      {parts.slice(0, MAX_PARTS).map((part, at) => (
        <ContentPart
          key={`${at} ${stringIn(part, 'uri')}`}
          part={part}
          before={earlier.get(stringIn(part, 'uri') ?? '')}
          isOnly={parts.length === 1}
        >
          {at === 0 && rawButton}
        </ContentPart>
      ))}
      {parts.length > MAX_PARTS && <p class="muted">{counted(parts.length - MAX_PARTS, 'more part')}.</p>}
    </div>
  );
}

function partsOf({ contents }: JsonObject): readonly JsonObject[] {
  return Array.isArray(contents) ? contents.filter(isObject) : [];
}
