import './chat.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ChatEntry, ChatView } from '../../../src/inspector/contract/chat.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Button, Keys } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { run } from '../../state/api.js';
import { type RunningCommand, useCommand } from '../../state/command.js';
import { chats, connection } from '../../state/store.js';
import { ChatCall } from './chat-call.js';
import { ChatCase } from './chat-case.js';
import { ChatForm } from './chat-form.js';

/** A chat with a model that has the tools of this server. */
export function ChatPlace(): VNode | null {
  const id = connection.value?.id;
  if (id === undefined) return null;
  const chat = chats.value.get(id);
  return (
    <section class="place chat" aria-label="Chat">
      {chat === undefined ? <ChatForm key={id} connection={id} /> : <OpenChat key={id} chat={chat} />}
    </section>
  );
}

function OpenChat({ chat }: { readonly chat: ChatView }): VNode {
  const command = useCommand();
  const saving = useSignal<number | undefined>(undefined);
  const end = useRef<HTMLDivElement>(null);
  const { connection: id, entries, model, host, state, tokens, maxTokens, isEstimate, cost, trusts } = chat;
  useEffect(() => end.current?.scrollIntoView?.({ block: 'nearest' }), [entries.length]);
  return (
    <>
      <header class="place-head">
        <h1>Chat</h1>
        <span class="muted">
          {cleanLine(model, 100)} at {cleanLine(host, 100)} · {isEstimate && 'at most '}
          {tokens} of {maxTokens} tokens{cost !== undefined && `, cost ${cost.toFixed(4)}`}
          {trusts && ' · tools that only read are not asked about'}
        </span>
        <div class="place-actions">
          <Button icon="plus" onClick={() => void command.start(() => run('endChat', { connection: id }))}>
            New chat
          </Button>
        </div>
      </header>
      <ol class="chat-entries" aria-live="polite">
        {entries.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            chat={chat}
            command={command}
            onSave={() => {
              saving.value = entry.id;
            }}
          />
        ))}
      </ol>
      <div ref={end} />
      {command.failure.value && <ErrorPanel failure={command.failure.value} />}
      <Say chat={chat} command={command} isBusy={state !== 'idle'} />
      {saving.value !== undefined && (
        <ChatCase
          chat={chat}
          ask={saving.value}
          onClose={() => {
            saving.value = undefined;
          }}
        />
      )}
    </>
  );
}

function Entry({
  entry,
  chat,
  command,
  onSave,
}: {
  readonly entry: ChatEntry;
  readonly chat: ChatView;
  readonly command: RunningCommand;
  readonly onSave: () => void;
}): VNode {
  switch (entry.kind) {
    case 'ask':
      return (
        <li class="chat-ask">
          <p class="chat-text">{clean(entry.text)}</p>
          <Button look="quiet" icon="save" label="Save as a case for evals" onClick={onSave} />
        </li>
      );
    case 'note':
      return (
        <li class="muted" role="status">
          {clean(entry.text)}
        </li>
      );
    case 'reply':
      return (
        <li class="chat-reply">
          {entry.text !== '' && <p class="chat-text">{clean(entry.text)}</p>}
          {entry.isPartial && <span class="muted">…</span>}
          {entry.calls.map((call) => (
            <ChatCall key={call.id} call={call} connection={chat.connection} command={command} />
          ))}
        </li>
      );
  }
}

function Say({
  chat,
  command,
  isBusy,
}: {
  readonly chat: ChatView;
  readonly command: RunningCommand;
  readonly isBusy: boolean;
}): VNode {
  const text = useSignal('');
  const { connection: id } = chat;
  const send = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    if (isBusy || text.value.trim() === '') return;
    const words = text.value;
    if (await command.start(() => run('say', { connection: id, text: words }))) text.value = '';
  };
  return (
    <form class="chat-say" onSubmit={(event) => void send(event)}>
      <textarea
        class="field"
        aria-label="Your message"
        rows={3}
        maxLength={20_000}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.stopPropagation();
          void send(event);
        }}
      />
      {isBusy ? (
        <Button icon="stop" onClick={() => void command.start(() => run('stopChat', { connection: id }))}>
          Stop
        </Button>
      ) : (
        <Button look="main" type="submit">
          Send <Keys of="Ctrl+Enter" />
        </Button>
      )}
    </form>
  );
}
