import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { Button } from '../../parts/controls/button.js';
import { go } from '../../state/route.js';

/** Opens a resource that is not in the list. */
export function OpenByUri(): VNode {
  const typed = useSignal('');
  const field = useId();
  const uri = typed.value.trim();
  return (
    <form
      class="resources-open"
      onSubmit={(event) => {
        event.preventDefault();
        if (uri === '') return;
        go('resources', uri);
        typed.value = '';
      }}
    >
      <label class="label muted" for={field}>
        Open by URI
      </label>
      <div class="resources-open-line">
        <input
          id={field}
          class="field mono"
          placeholder="notes://today"
          spellcheck={false}
          autocomplete="off"
          maxLength={8192}
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
        />
        <Button type="submit" isDisabled={uri === ''}>
          Open
        </Button>
      </div>
    </form>
  );
}
