import './completion.css';
import { useComputed, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { has } from '../../../src/protocol/tables/features.js';
import { revisions } from '../../../src/protocol/tables/revisions.js';
import { run } from '../../state/api.js';
import { connection } from '../../state/store.js';
import { SuggestionList } from './suggestion-list.js';
import { type CompletionSource, contextOf, Suggestions } from './suggestions.js';

interface CompletingFieldProps {
  readonly id: string;
  readonly source: CompletionSource;
  readonly argument: string;
  /** The values of all fields of the form, by name. */
  readonly values: Readonly<Record<string, string>>;
  readonly onValue: (value: string) => void;
  readonly isRequired?: boolean;
  readonly isInvalid?: boolean;
  readonly describedBy?: string;
  readonly placeholder?: string;
}

/** A text field that offers the values that the server suggests. */
export function CompletingField(props: CompletingFieldProps): VNode {
  const { id, source, argument, values, onValue } = props;
  const server = connection.value;
  const value = values[argument] ?? '';
  const connectionId = server?.id ?? '';
  const mayComplete = canComplete(server?.server?.capabilities, server?.revision);
  const sourceKey = JSON.stringify(source);
  const suggestions = useMemo(
    () =>
      new Suggestions((text, context) =>
        run('complete', { connection: connectionId, ref: source, argument, value: text, context }),
      ),
    [connectionId, sourceKey, argument],
  );
  useEffect(() => () => suggestions.clear(), [suggestions]);

  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const isOpen = useSignal(false);
  const active = useSignal(-1);
  const offered = suggestions.suggested.value.values;
  const latest = useRef(value);
  latest.current = value;
  // A single value that is there already is not suggested.
  const isShown = useComputed(
    () => isOpen.value && suggestions.suggested.value.values.some((each) => each !== latest.current),
  );

  function ask(text: string): void {
    if (!mayComplete) return;
    isOpen.value = true;
    active.value = -1;
    suggestions.type(text, contextOf(values, argument));
  }

  function pick(text: string): void {
    onValue(text);
    close();
  }

  function close(): void {
    isOpen.value = false;
    active.value = -1;
  }

  function move(by: number): void {
    if (!isShown.value) return ask(value);
    const { length } = offered;
    active.value = active.value < 0 ? (by > 0 ? 0 : length - 1) : (active.value + by + length) % length;
  }

  function onKeyDown(event: KeyboardEvent): void {
    const chosen = offered[active.value];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter' && isShown.value && chosen !== undefined && !event.ctrlKey) {
      event.preventDefault();
      pick(chosen);
    } else if (event.key === 'Enter') {
      // The form is sent: nobody waits for suggestions any more.
      suggestions.clear();
      close();
    }
  }

  return (
    <div class="completion">
      <input
        ref={input}
        id={id}
        class="field mono"
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={value}
        placeholder={props.placeholder}
        required={props.isRequired}
        aria-invalid={props.isInvalid === true ? 'true' : undefined}
        aria-describedby={props.describedBy}
        {...(mayComplete && {
          role: 'combobox',
          'aria-autocomplete': 'list',
          'aria-expanded': isShown.value ? 'true' : 'false',
          'aria-controls': isShown.value ? listId : undefined,
          'aria-activedescendant':
            isShown.value && active.value >= 0 ? `${listId}-${active.value}` : undefined,
        })}
        onInput={({ currentTarget }) => {
          onValue(currentTarget.value);
          ask(currentTarget.value);
        }}
        onClick={() => {
          if (!isOpen.value) ask(value);
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      {mayComplete && (
        <SuggestionList
          id={listId}
          argument={argument}
          suggestions={suggestions}
          isShown={isShown.value}
          active={active.value}
          anchor={input}
          onPick={pick}
          onClose={close}
        />
      )}
    </div>
  );
}

function canComplete(capabilities: object | undefined, revision: string | undefined): boolean {
  if (capabilities !== undefined && 'completions' in capabilities) return true;
  // The first revision had completion, and no capability for it.
  const spoken = revisions.find((each) => each === revision);
  return spoken !== undefined && !has(spoken, 'completionsCapability');
}
