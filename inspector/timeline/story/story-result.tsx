import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { Button } from '../../parts/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { bytes } from '../../parts/format.js';
import { ResultView } from '../../results/result-view.js';
import { outcomeAddress } from '../../state/api.js';
import { catalogs } from '../../state/store.js';

/** Outcomes up to this size are shown in the page; larger ones can be saved. */
const SHOWN_AT_MOST = 5_000_000;

/** What came back: the result, or the error. Nothing while there is neither. */
export function StoryResult({ story }: { readonly story: Story }): VNode | null {
  const { error, outcome, outcomeBytes } = story;
  const tool = catalogs.value.get(story.connection)?.tools.find((each) => each.tool.name === story.title);
  if (error === undefined && outcome === undefined && outcomeBytes === undefined) return null;
  return (
    <section class="story-part" aria-label="Result">
      <h2>Result</h2>
      {error && <ErrorPanel failure={error} />}
      {outcome && !error && <ResultView outcome={outcome} tool={tool} story={story.id} />}
      {!outcome && !error && outcomeBytes !== undefined && <LargeOutcome story={story} size={outcomeBytes} />}
    </section>
  );
}

function LargeOutcome({ story, size }: { readonly story: Story; readonly size: number }): VNode {
  const fetched = useSignal<JsonObject | undefined>(undefined);
  const failure = useSignal('');
  const show = async (): Promise<void> => {
    try {
      fetched.value = (await (await fetch(outcomeAddress(story.id))).json()) as JsonObject;
    } catch {
      failure.value = 'The result could not be fetched. It may no longer be kept.';
    }
  };
  if (fetched.value) return <ResultView outcome={fetched.value} story={story.id} />;
  return (
    <div class="story-large">
      <p>The result has {bytes(size)}.</p>
      {size <= SHOWN_AT_MOST && <Button onClick={() => void show()}>Show it</Button>}
      <a class="button" href={outcomeAddress(story.id)} download={`result-${story.id}.json`}>
        Save it
      </a>
      {failure.value && <p class="muted">{failure.value}</p>}
    </div>
  );
}
