import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';
import { ResultView } from '../results/result-view.js';
import { stories } from '../state/store.js';

/** The page of one call, at `#/call/17`. */
export function CallPage({ id }: { readonly id: number }): VNode {
  const story = stories.value.get(id);
  if (story === undefined) return <Empty title={`Call ${id} is not known. It may have been cleared.`} />;
  return (
    <article>
      <h1>{story.title}</h1>
      {story.outcome && <ResultView outcome={story.outcome} story={id} />}
    </article>
  );
}
