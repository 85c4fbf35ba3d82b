import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { clock } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { connection } from '../../state/store.js';

const OFFERED = 20;

/** Follows a task that an earlier visit, or another program, started. */
export function FollowTasks({ followed }: { readonly followed: readonly string[] }): VNode | null {
  const id = useSignal('');
  const failure = useSignal('');
  const own = connection.value;
  if (own === undefined) return null;
  const follow = async (task: string): Promise<void> => {
    if (task === '') return;
    try {
      await run('followTask', { connection: own.id, task });
      failure.value = '';
      id.value = '';
      go('task', task);
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
    }
  };
  const earlier = own.knownTasks
    .filter((each) => !followed.includes(each.id))
    .slice(-OFFERED)
    .reverse();
  return (
    <form
      class="tasks-follow"
      onSubmit={(event) => {
        event.preventDefault();
        void follow(id.value.trim());
      }}
    >
      {earlier.length > 0 && (
        <div class="tasks-earlier">
          <span class="label muted">Earlier visits</span>
          {earlier.map((each) => (
            <Button
              key={each.id}
              look="quiet"
              label={`Follow the task ${cleanLine(each.id, 80)}`}
              onClick={() => void follow(each.id)}
            >
              <span class="mono tasks-name">{cleanLine(each.tool, 60)}</span>
              <span class="muted label">{day(each.at)}</span>
            </Button>
          ))}
        </div>
      )}
      <label class="label" for="tasks-follow">
        Follow a task by its id
      </label>
      <div class="tasks-row">
        <input
          id="tasks-follow"
          class="field mono"
          spellcheck={false}
          autocomplete="off"
          value={id.value}
          aria-invalid={failure.value !== ''}
          aria-describedby="tasks-follow-failure"
          onInput={(event) => {
            id.value = event.currentTarget.value;
          }}
        />
        <Button type="submit">Follow</Button>
      </div>
      <p id="tasks-follow-failure" class="tasks-failure" role="status">
        {failure.value}
      </p>
    </form>
  );
}

/** The time of today, and the date of other days. */
function day(at: number): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString()
    ? clock(at).slice(0, 5)
    : date.toLocaleDateString();
}
