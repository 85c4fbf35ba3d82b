import type { Signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { saveTape } from '../places/tapes/save-tape.js';
import { run } from '../state/api.js';
import { addressOf, route } from '../state/route.js';
import { connection, ownStories } from '../state/store.js';
import { type Choice, fits, KIND_FILTERS, STATE_FILTERS } from './model/filter.js';
import { StateMark } from './state-mark.js';
import { attempt } from './story/story-actions.js';
import {
  kind,
  pausedAt,
  query,
  shownMessages,
  shownStories,
  state,
  togglePause,
  view,
  waiting,
} from './timeline-state.js';

/** The filters of the timeline, and what can be done with all of it. */
export function Toolbar(): VNode {
  // It is the title of the page where nothing else is.
  const Heading = route.value.place === 'timeline' ? 'h1' : 'h2';
  const count = view.value === 'calls' ? shownStories.value.length : shownMessages.value.length;
  return (
    <div class="timeline-bar">
      <div class="timeline-line">
        <Heading class="timeline-name">Timeline</Heading>
        <div class="timeline-views" role="group" aria-label="View">
          {(['calls', 'messages'] as const).map((each) => (
            <button
              key={each}
              type="button"
              class="timeline-view"
              aria-pressed={view.value === each}
              onClick={() => {
                view.value = each;
              }}
            >
              {each === 'calls' ? 'Calls' : 'Messages'}
            </button>
          ))}
        </div>
        <span class="timeline-gap" />
        <Errors />
        {waiting.value > 0 && <span class="label muted timeline-waiting">{waiting.value} new</span>}
        <Button
          look="quiet"
          icon={pausedAt.value ? 'play' : 'pause'}
          label={pausedAt.value ? 'Go on' : 'Pause'}
          isPressed={pausedAt.value !== undefined}
          onClick={togglePause}
        >
          <Word>{pausedAt.value ? 'Go on' : 'Pause'}</Word>
        </Button>
        {connection.value && (
          <Button
            look="quiet"
            icon="download"
            label="Save as a tape"
            onClick={() => connection.value && void saveTape(connection.value)}
          >
            <Word>Save</Word>
          </Button>
        )}
        <a class="button quiet" href={addressOf('tapes')} title="Tapes">
          <Icon name="tapes" />
          <Word>Tapes</Word>
        </a>
        <ClearButton />
      </div>
      <div class="timeline-line">
        <div class="timeline-search">
          <Icon name="search" size={14} />
          <SearchField />
          <span class="label muted" aria-live="polite">
            {count}
            <span class="visually-hidden"> {view.value === 'calls' ? 'calls' : 'messages'} shown</span>
          </span>
        </div>
        <Filter label="Kind" choices={KIND_FILTERS} value={kind} />
        <Filter label="State" choices={STATE_FILTERS} value={state} />
      </div>
    </div>
  );
}

/** The word of a button: beside its icon where there is room, otherwise only said. */
function Word({ children }: { readonly children: ComponentChildren }): VNode {
  return <span class="timeline-word">{children}</span>;
}

/** The number of calls that failed. A click shows only these, another one all. */
function Errors(): VNode | null {
  const failed = ownStories.value.filter((story) => fits(story, 'all', 'failed')).length;
  if (failed === 0) return null;
  const isOnly = state.value === 'failed';
  return (
    <button
      type="button"
      class="button quiet timeline-errors"
      aria-pressed={isOnly}
      title={isOnly ? 'Show calls in any state' : 'Show only the calls that failed'}
      onClick={() => {
        state.value = isOnly ? 'any' : 'failed';
      }}
    >
      <StateMark tone="err" />
      {failed}
      <Word>{failed === 1 ? ' error' : ' errors'}</Word>
    </button>
  );
}

function SearchField(): VNode {
  return (
    <input
      id="timeline-search"
      type="search"
      aria-label="Search calls and messages"
      placeholder="Search"
      spellcheck={false}
      autocomplete="off"
      value={query.value}
      onInput={(event) => {
        query.value = event.currentTarget.value;
      }}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') document.getElementById('timeline-list')?.focus();
        else if (event.key === 'Escape' && query.value) query.value = '';
        else return;
        event.preventDefault();
      }}
    />
  );
}

function Filter<Value extends string>({
  label,
  choices,
  value,
}: {
  readonly label: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Signal<Value>;
}): VNode {
  return (
    <select
      class={value.value === choices[0]?.value ? 'timeline-filter' : 'timeline-filter is-set'}
      aria-label={label}
      value={value.value}
      onChange={(event) => {
        value.value = event.currentTarget.value as Value;
      }}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

const SURE_MS = 4000;

/** Asks once: what was cleared does not come back. */
function ClearButton(): VNode {
  const [isSure, setSure] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const id = connection.value?.id;
  if (!isSure)
    return (
      <Button
        look="quiet"
        icon="trash"
        label="Clear"
        isDisabled={id === undefined}
        onClick={() => {
          setSure(true);
          timer.current = setTimeout(() => setSure(false), SURE_MS);
        }}
      >
        <Word>Clear</Word>
      </Button>
    );
  return (
    <Button
      class="timeline-sure"
      label="Removes everything that is over and not pinned"
      onClick={() => {
        clearTimeout(timer.current);
        setSure(false);
        if (id !== undefined) void attempt(run('clear', { connection: id }));
      }}
    >
      Clear all
    </Button>
  );
}
