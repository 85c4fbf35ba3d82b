import type { RefObject, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Popover } from '../../parts/popup/popover.js';
import { counted } from '../../parts/values/format.js';
import type { Suggestions } from './suggestions.js';

interface SuggestionListProps {
  readonly id: string;
  readonly argument: string;
  readonly suggestions: Suggestions;
  readonly isShown: boolean;
  /** The place of the value that Enter would take; -1 for none. */
  readonly active: number;
  /** The field. */
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onPick: (value: string) => void;
  readonly onClose: () => void;
}

/** The values under a field. The field keeps the focus. */
export function SuggestionList({
  id,
  argument,
  suggestions,
  isShown,
  active,
  anchor,
  onPick,
  onClose,
}: SuggestionListProps): VNode {
  const list = useRef<HTMLDivElement>(null);
  const { values, total, hasMore } = suggestions.suggested.value;
  const failure = suggestions.failure.value;
  useEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <>
      {isShown && (
        <Popover anchor={anchor} onClose={onClose} isAsWide>
          <div
            id={id}
            ref={list}
            class="completion-list"
            role="listbox"
            tabIndex={-1}
            aria-label={`Suggestions for ${cleanLine(argument, 60)}`}
          >
            {values.map((value, at) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys.
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, and names the active one.
              <div
                key={value}
                id={`${id}-${at}`}
                class="completion-option mono"
                role="option"
                aria-selected={at === active ? 'true' : 'false'}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => onPick(value)}
              >
                {cleanLine(value, 200)}
              </div>
            ))}
          </div>
          {hasMore === true && (
            <span class="completion-more label muted">
              {total === undefined
                ? 'There are more: keep typing.'
                : `${values.length} of ${total}: keep typing.`}
            </span>
          )}
        </Popover>
      )}
      <span class="visually-hidden" role="status">
        {isShown && counted(values.length, 'suggestion')}
      </span>
      {failure !== undefined && (
        <span class="completion-note label muted">No suggestions: {cleanLine(failure)}</span>
      )}
    </>
  );
}
