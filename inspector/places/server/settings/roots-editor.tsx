import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Button } from '../../../parts/controls/button.js';
import { run } from '../../../state/api.js';
import { useCommand } from '../../../state/command.js';

const MAX_ROOTS = 50;

/** The folders that the inspector names to a server that asks for roots. */
export function RootsEditor({ connection }: { readonly connection: ConnectionView }): VNode {
  const { id, roots } = connection;
  const typed = useSignal('');
  const fault = useSignal<string | undefined>(undefined);
  const command = useCommand();
  const field = useId();
  const save = (next: ConnectionView['roots']): Promise<boolean> =>
    command.start(() => run('roots', { connection: id, roots: next }));

  async function add(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const uri = rootUri(typed.value.trim());
    fault.value = faultOf(uri, roots);
    if (fault.value === undefined && uri !== undefined && (await save([...roots, { uri }]))) typed.value = '';
  }

  return (
    <form class="server-roots" onSubmit={(event) => void add(event)}>
      <h3>Roots</h3>
      {roots.length === 0 && <p class="muted">None. A server that asks for roots gets an empty list.</p>}
      <ul>
        {roots.map((root) => (
          <li key={root.uri}>
            <span class="mono server-address">{cleanLine(root.uri, 200)}</span>
            <Button
              look="quiet"
              icon="close"
              label={`Remove ${cleanLine(root.uri, 80)}`}
              isDisabled={command.isRunning.value}
              onClick={() => void save(roots.filter(({ uri }) => uri !== root.uri))}
            />
          </li>
        ))}
      </ul>
      <div class="server-roots-add">
        <label class="visually-hidden" for={field}>
          Folder to add
        </label>
        <input
          id={field}
          class="field mono"
          placeholder="/path/of/a/folder"
          spellcheck={false}
          autocomplete="off"
          value={typed.value}
          aria-invalid={fault.value === undefined ? undefined : 'true'}
          aria-describedby={`${field}-fault`}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
            fault.value = undefined;
          }}
        />
        <Button type="submit" isDisabled={command.isRunning.value || typed.value.trim() === ''}>
          Add
        </Button>
      </div>
      <p id={`${field}-fault`} class="server-exit" role="status">
        {fault.value ?? command.failure.value?.message ?? ''}
      </p>
    </form>
  );
}

/** A folder as a file: URI; undefined if it cannot be one. */
function rootUri(text: string): string | undefined {
  const isFile = text.startsWith('file://');
  const path = text.replaceAll('\\', '/');
  const isPath = path.startsWith('/') || /^[A-Za-z]:\//.test(path);
  if (!isFile && !isPath) return undefined;
  const address = isFile ? text : `file://${path.startsWith('/') ? '' : '/'}${encodeURI(path)}`;
  return URL.canParse(address) ? address : undefined;
}

function faultOf(uri: string | undefined, roots: ConnectionView['roots']): string | undefined {
  if (uri === undefined) return 'A root is a whole path, such as /home/ann/project, or a file:// URI.';
  if (roots.some((root) => root.uri === uri)) return 'That folder is a root already.';
  return roots.length >= MAX_ROOTS ? `${MAX_ROOTS} roots are enough.` : undefined;
}
