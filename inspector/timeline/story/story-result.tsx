import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { LargeOutcome } from '../../results/large-outcome.js';
import { ResultView } from '../../results/result-view.js';
import { catalogs } from '../../state/store.js';

/** The end of a call: its result, or its error. Nothing while there is neither. */
export function StoryResult({ story }: { readonly story: Story }): VNode | null {
  const { error, outcome, outcomeBytes } = story;
  const tool = catalogs.value.get(story.connection)?.tools.find((each) => each.tool.name === story.title);
  const hasMore = outcomeBytes !== undefined && story.earlier === undefined;
  if (error === undefined && outcome === undefined && !hasMore) return null;
  return (
    <div class="story-part">
      <h2>Result</h2>
      {error && <ErrorPanel failure={error} />}
      {outcome && !error && <ResultView outcome={outcome} tool={tool} story={story.id} />}
      {!outcome && !error && hasMore && <LargeOutcome story={story.id} size={outcomeBytes} tool={tool} />}
    </div>
  );
}
