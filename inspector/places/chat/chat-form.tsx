import { type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';

const FIELDS = [
  ['model', 'Model', 'anthropic:claude-sonnet-4-5 or openai-chat:qwen3@http://localhost:11434'],
  ['key', 'Variable of the key, for another address than that of the vendor', 'OPENROUTER_API_KEY'],
  ['maxTokens', 'Most tokens of the chat', '200000'],
  ['input', 'Price of a million tokens of requests', ''],
  ['output', 'Price of a million tokens of replies', ''],
] as const;

type Field = (typeof FIELDS)[number][0];

/** The fields stay as they are until the tab is closed. There is no key in them. */
const typed: Signal<Readonly<Partial<Record<Field, string>>>> = signal({});
const trusts: Signal<boolean> = signal(false);

/** Chooses the model of a chat. */
export function ChatForm({ connection }: { readonly connection: string }): VNode {
  const command = useCommand();
  const begin = (event: Event): void => {
    event.preventDefault();
    const { model = '', key = '', maxTokens = '', input = '', output = '' } = typed.value;
    void command.start(() =>
      run('beginChat', {
        connection,
        model: model.trim(),
        trusts: trusts.value,
        ...(key.trim() !== '' && { key: key.trim() }),
        ...(maxTokens !== '' && { maxTokens: Number(maxTokens) }),
        ...(input + output !== '' && { price: { input: Number(input), output: Number(output) } }),
      }),
    );
  };
  return (
    <>
      <header class="place-head">
        <h1>Chat</h1>
      </header>
      <p class="muted">
        A model gets the tools of this server, and you decide about each of its calls. Its key is read from
        the environment of the inspector, ANTHROPIC_API_KEY or OPENAI_API_KEY, and is sent to the model alone.
        A model on this computer needs none.
      </p>
      <form class="chat-form" onSubmit={begin}>
        {FIELDS.map(([name, label, placeholder]) => (
          <label key={name}>
            {label}
            <input
              class="field"
              required={name === 'model'}
              inputMode={name === 'model' || name === 'key' ? 'text' : 'decimal'}
              placeholder={placeholder}
              spellcheck={false}
              value={typed.value[name] ?? ''}
              onInput={(event) => {
                typed.value = { ...typed.value, [name]: event.currentTarget.value };
              }}
            />
          </label>
        ))}
        <label class="form-check">
          <input
            type="checkbox"
            checked={trusts.value}
            onChange={(event) => {
              trusts.value = event.currentTarget.checked;
            }}
          />
          I trust this server: do not ask about tools that say that they only read
        </label>
        {command.failure.value && <ErrorPanel failure={command.failure.value} />}
        <Button look="main" type="submit" isDisabled={command.isRunning.value}>
          Begin
        </Button>
      </form>
    </>
  );
}
