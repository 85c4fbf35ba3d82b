import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ChatView } from '../../../src/inspector/contract/chat.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { Dialog } from '../../parts/popup/dialog.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { toast } from '../../state/toast.js';

/** Shows a turn as a case for evals, without secrets, before it is saved. */
export function ChatCase({
  chat,
  ask,
  onClose,
}: {
  readonly chat: ChatView;
  readonly ask: number;
  readonly onClose: () => void;
}): VNode {
  const { connection, file } = chat;
  const command = useCommand();
  const text = useSignal('');
  useEffect(() => {
    void command.start(async () => {
      text.value = (await run('chatCase', { connection, ask })).text;
    });
  }, [ask]);
  const save = async (): Promise<void> => {
    const isSaved = await command.start(() => run('saveChatCase', { connection, ask }));
    if (!isSaved) return;
    toast(`Saved in ${file ?? 'the file'}. Run it with: fullmcp eval ${file ?? ''}`);
    onClose();
  };
  return (
    <Dialog label="Save as a case" onClose={onClose}>
      <h2>Save as a case</h2>
      <p class="muted">
        The request, the calls that succeeded, the tools that you declined, and your answers. What was said
        before it is not in it.
      </p>
      {text.value !== '' && <CodeBlock text={text.value} language="json" label="The case" />}
      {command.failure.value && <ErrorPanel failure={command.failure.value} />}
      <div class="chat-buttons">
        <Button onClick={onClose}>Cancel</Button>
        {file !== undefined && (
          <Button look="main" isDisabled={text.value === ''} onClick={() => void save()}>
            Save in {file}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
