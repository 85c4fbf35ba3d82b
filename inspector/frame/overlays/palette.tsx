import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { cleanLine } from '../../../src/tooling/clean.js';
import { useKeys } from '../../parts/controls/keys.js';
import { Icon } from '../../parts/icon.js';
import { Dialog } from '../../parts/popup/dialog.js';
import { overlay } from './overlays.js';
import { type Entry, entriesFor } from './palette-entries.js';

const SHOWN = 50;

/** The command bar: tools, recent calls, resources, actions, in this order. Nothing else. */
export function Palette(): VNode {
  const typed = useSignal('');
  const at = useSignal(0);
  const entries = useMemo(() => entriesFor(typed.value).slice(0, SHOWN), [typed.value]);
  const chosen = Math.min(at.value, entries.length - 1);
  const close = () => {
    overlay.value = undefined;
  };
  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    close();
    entry.open();
  };
  const move = (by: number) => {
    at.value = (chosen + by + entries.length) % Math.max(1, entries.length);
    document.getElementById(`palette-${at.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({ 'Ctrl+k': close });
  return (
    <Dialog label="Search" class="frame-palette" onClose={close}>
      <div class="frame-palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Tools, calls, resources and actions"
          aria-expanded="true"
          aria-controls="palette-entries"
          aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
          placeholder="Tools, calls, resources, actions"
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') move(1);
            else if (event.key === 'ArrowUp') move(-1);
            else if (event.key === 'Enter') open(entries[chosen]);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <div class="frame-palette-entries" role="listbox" id="palette-entries" aria-label="Results">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field above has the focus
          <div
            key={entry.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            class="frame-palette-entry"
            onClick={() => open(entry)}
            onPointerMove={() => {
              at.value = index;
            }}
          >
            <Icon name={entry.icon} />
            <span class={entry.isCode ? 'mono' : ''}>{cleanLine(entry.title, 80)}</span>
            <span class="muted frame-palette-detail">{cleanLine(entry.detail, 120)}</span>
            <span class="label muted">{entry.group}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="muted frame-palette-none">Nothing has “{typed.value}” in it.</p>}
    </Dialog>
  );
}
