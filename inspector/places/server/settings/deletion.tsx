import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { Button } from '../../../parts/controls/button.js';
import { ErrorPanel } from '../../../parts/error-panel.js';
import { useCommand } from '../../../state/command.js';
import { toast } from '../../../state/toast.js';

/** Deletes something after a second click. */
export function Deletion({
  title,
  button,
  done,
  work,
  children,
}: {
  readonly title: string;
  readonly button: string;
  /** The sentence that says that it was done. */
  readonly done: string;
  readonly work: () => Promise<unknown>;
  readonly children: ComponentChildren;
}): VNode {
  const isSure = useSignal(false);
  const command = useCommand();
  async function onClick(): Promise<void> {
    if (!isSure.value) {
      isSure.value = true;
      return;
    }
    isSure.value = false;
    if (await command.start(work)) toast(done);
  }
  return (
    <section class="server-deletion">
      <h2>{title}</h2>
      <p class="muted">{children}</p>
      <div class="server-deletion-buttons">
        <Button isDisabled={command.isRunning.value} onClick={() => void onClick()}>
          {isSure.value ? `${button}: really?` : button}
        </Button>
        {isSure.value && (
          <Button look="quiet" onClick={() => (isSure.value = false)}>
            Keep
          </Button>
        )}
      </div>
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
    </section>
  );
}
