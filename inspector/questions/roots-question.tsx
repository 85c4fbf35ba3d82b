import type { VNode } from 'preact';
import { Button } from '../parts/controls/button.js';
import type { Draft } from './answers/drafts.js';

interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** The folders that the server may see. */
export function RootsQuestion({
  draft,
  set,
}: {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}): VNode {
  const roots = draft.value as readonly Root[];
  const put = (next: readonly Root[]): void => set({ value: next });
  return (
    <div class="question-roots">
      {roots.map((root, index) => (
        <div key={index} class="question-root">
          <input
            class="field mono"
            aria-label={`Root ${index + 1}`}
            placeholder="file:///home/me/project"
            value={root.uri}
            onInput={(event) => put(roots.with(index, { ...root, uri: event.currentTarget.value }))}
          />
          <Button
            look="quiet"
            icon="close"
            label={`Remove root ${index + 1}`}
            onClick={() => put(roots.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div>
        <Button look="quiet" icon="plus" onClick={() => put([...roots, { uri: 'file:///' }])}>
          Add a root
        </Button>
      </div>
    </div>
  );
}
