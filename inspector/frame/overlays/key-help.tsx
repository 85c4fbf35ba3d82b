import type { VNode } from 'preact';
import { Keys } from '../../parts/controls/button.js';
import { Dialog } from '../../parts/popup/dialog.js';
import { hasLetterKeys } from '../../state/settings.js';
import { overlay } from './overlays.js';

const KEYS: readonly (readonly [string, string])[] = [
  ['1 … 8', 'go to a place'],
  ['/', 'filter the list'],
  ['j k', 'move in the list; arrows do the same'],
  ['← →', 'close and open a group of the list'],
  ['Enter', 'open, and go into the form'],
  ['Ctrl+Enter', 'run, or answer'],
  ['Ctrl+.', 'stop the running call'],
  ['r', 'run again'],
  ['e', 'edit: arguments into the form'],
  ['[ ]', 'earlier and later run'],
  ['g', 'go to the story of this call'],
  ['q', 'next open question'],
  ['y n', 'yes and no, in a question with one of those'],
  ['c', 'copy as command line'],
  ['s', 'keep this run as a request'],
  ['w', 'raw, as it was on the wire, or formatted'],
  ['t', 'timeline'],
  ['Ctrl+K', 'search tools, calls and actions'],
  ['?', 'these keys'],
  ['Esc', 'close what is on top, or one level back; never answers, never stops'],
];

/** All keys, and the switch for single letters. */
export function KeyHelp(): VNode {
  return (
    <Dialog
      label="Keys"
      onClose={() => {
        overlay.value = undefined;
      }}
    >
      <h2>Keys</h2>
      <dl class="frame-key-list">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.includes(' ') ? (
                keys.split(' ').map((key) => (key === '…' ? ' … ' : <kbd key={key}>{key}</kbd>))
              ) : (
                <Keys of={keys} />
              )}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="form-check">
        <input
          type="checkbox"
          checked={hasLetterKeys.value}
          onChange={(event) => {
            hasLetterKeys.value = event.currentTarget.checked;
          }}
        />
        Single letters are keys while no field has the focus
      </label>
    </Dialog>
  );
}
