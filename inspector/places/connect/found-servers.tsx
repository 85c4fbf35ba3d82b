import type { VNode } from 'preact';
import type { FoundServer } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { Icon } from '../../parts/icon.js';
import { run } from '../../state/api.js';
import { found } from '../../state/store.js';
import { open } from './open.js';

/** Servers that were used before, or that a configuration names. */
export function FoundServers(): VNode {
  return (
    <section class="connect-found" aria-labelledby="connect-found">
      <h2 id="connect-found">Found here</h2>
      <ul>
        {found.value.map((server) => (
          <FoundRow key={server.id} server={server} />
        ))}
      </ul>
    </section>
  );
}

function FoundRow({ server }: { readonly server: FoundServer }): VNode {
  const { id, name, address, source, lastUsed, lastFailure } = server;
  return (
    <li class="connect-row">
      <button type="button" class="connect-open" onClick={() => void open({ name: id })}>
        <span class={lastFailure === undefined ? 'connect-mark' : 'connect-mark is-wrong'}>
          <Icon
            name={lastFailure === undefined ? 'server' : 'cross'}
            label={lastFailure === undefined ? undefined : 'Failed the last time'}
          />
        </span>
        <strong class={name === address ? 'is-address' : undefined} title={cleanLine(name, 400)}>
          {cleanLine(name, 160)}
        </strong>
        {name !== address && (
          <span class="mono muted connect-address" title={cleanLine(address, 400)}>
            {cleanLine(address, 160)}
          </span>
        )}
        <span class="label muted connect-source">
          {lastFailure === undefined
            ? lastUsed === undefined
              ? cleanLine(source, 60)
              : ago(lastUsed)
            : cleanLine(lastFailure, 80)}
        </span>
      </button>
      {lastUsed !== undefined && (
        <Button
          look="quiet"
          icon="close"
          label={`Forget ${cleanLine(name, 60)}`}
          onClick={() => void run('forgetServer', { id }).catch(() => undefined)}
        />
      )}
    </li>
  );
}

const DAY = 86_400_000;

function ago(at: number): string {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (at >= midnight) return 'today';
  const days = Math.ceil((midnight - at) / DAY);
  return days === 1 ? 'yesterday' : `${days} days ago`;
}
