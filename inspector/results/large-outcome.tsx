import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ToolView } from '../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../src/jsonrpc/message.js';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { bytes } from '../parts/values/format.js';
import { outcomeAddress } from '../state/api.js';
import { ResultView } from './result-view.js';

/** More than this would make the page slow. */
const MAX_SHOWN = 8_000_000;

/** A result that did not come with its story, because it is large: shown or downloaded when it is wanted. */
export function LargeOutcome({
  story,
  size,
  tool,
}: {
  readonly story: number;
  readonly size: number;
  readonly tool?: ToolView | undefined;
}): VNode {
  const outcome = useSignal<JsonObject | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const show = async () => {
    try {
      const response = await fetch(outcomeAddress(story));
      if (!response.ok) throw new Error(`The inspector answered with status ${response.status}.`);
      outcome.value = (await response.json()) as JsonObject;
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  if (outcome.value !== undefined) return <ResultView outcome={outcome.value} tool={tool} story={story} />;
  return (
    <div class="results-large">
      <p>The result has {bytes(size)}.</p>
      {size <= MAX_SHOWN && <Button onClick={() => void show()}>Show it</Button>}
      <a class="button" href={outcomeAddress(story)} download={`result-${story}.json`}>
        <Icon name="download" /> Download
      </a>
      {problem.value !== undefined && <p class="form-error">{problem.value}</p>}
    </div>
  );
}
