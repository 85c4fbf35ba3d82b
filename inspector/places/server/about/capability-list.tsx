import type { VNode } from 'preact';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Icon } from '../../../parts/icon.js';
import type { Offers } from './capabilities.js';

/** The features that one side offers; those that it does not offer are named. */
export function CapabilityList({ offers }: { readonly offers: Offers }): VNode {
  const { offered, missing } = offers;
  return (
    <div class="server-offers">
      <ul>
        {offered.map(({ name, notes }) => (
          <li key={name}>
            <Icon name="check" />
            <span class="mono">{cleanLine(name, 80)}</span>
            {notes.length > 0 && (
              <span class="muted">{notes.map((note) => cleanLine(note, 40)).join(', ')}</span>
            )}
          </li>
        ))}
      </ul>
      {missing.length > 0 && <p class="muted">Not offered: {missing.join(', ')}.</p>}
    </div>
  );
}
