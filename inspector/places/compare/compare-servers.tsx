import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { cleanLine } from '../../../src/tooling/clean.js';
import type { ManifestChange } from '../../../src/tooling/manifest/manifest-change.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { counted } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { connections } from '../../state/store.js';

const SIGNS = { added: '+', removed: '−', changed: '~' } as const;

/** The differences between what two servers offer, as `fullmcp diff` finds them. */
export function CompareServers({
  before,
  after,
}: {
  readonly before: string;
  readonly after: string;
}): VNode {
  const changes = useSignal<readonly ManifestChange[] | undefined>(undefined);
  const command = useCommand();
  const [one, other] = [before, after].map((id) => connections.value.get(id));
  useEffect(() => {
    void command.start(async () => {
      changes.value = (await run('compareServers', { before, after })).changes;
    });
  }, [before, after, one?.catalogVersion, other?.catalogVersion]);
  const names = [one, other].map((view) => cleanLine(`${view?.name ?? ''} ${view?.revision ?? ''}`, 80));
  const found = changes.value;
  const breaking = found?.filter((change) => change.breaking).length ?? 0;
  return (
    <article class="place">
      <header class="place-head">
        <h1>
          {names[0]} and {names[1]}
        </h1>
      </header>
      {command.failure.value && <ErrorPanel failure={command.failure.value} />}
      {found && (
        <p role="status">
          {found.length === 0
            ? 'Both offer the same.'
            : `${counted(found.length, 'difference')}, ${breaking} of them breaking.`}
        </p>
      )}
      {found && found.length > 0 && (
        <ul class="compare-changes">
          {found.map(({ kind, name, change, breaking: isBreaking, says }) => (
            <li key={`${kind} ${name} ${says}`}>
              <span class="mono" aria-hidden="true">
                {SIGNS[change]}
              </span>
              <span class="muted">{kind}</span>
              <span class="mono">{cleanLine(name, 128)}</span>
              <span>{cleanLine(says, 300)}</span>
              {isBreaking && <span class="badge err">breaking</span>}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}
