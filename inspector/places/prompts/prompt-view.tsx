import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { CompletingField } from '../../form/completion/completing-field.js';
import { Button, Keys } from '../../parts/controls/button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { useEntering } from '../../parts/list/entering.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { route } from '../../state/route.js';
import { isOver, settled } from '../../state/settled.js';
import { ownStories } from '../../state/store.js';
import { CopyPromptAs } from '../tools/copy/copy-as.js';
import type { ListedPrompt } from './listed-prompt.js';
import { PromptResult } from './prompt-result.js';

/** One prompt: its arguments, and the messages that they make. */
export function PromptView({
  connection,
  prompt,
}: {
  readonly connection: ConnectionView;
  readonly prompt: ListedPrompt;
}): VNode {
  const { name, title, description, args } = prompt;
  const runs = ownStories.value.filter(
    ({ kind, title: its, earlier }) => kind === 'prompt' && its === name && earlier === undefined,
  );
  const latest = runs.findLast(isOver);
  const values = useSignal<Readonly<Record<string, string>>>(initialValues(prompt, latest));
  const isTried = useSignal(false);
  const command = useCommand();
  const id = useId();
  const missing = args.filter((each) => each.isRequired && !values.value[each.name]);
  const isReady = connection.status === 'ready';
  const form = useRef<HTMLFormElement>(null);
  useEntering(name, form);

  function get(): void {
    isTried.value = true;
    if (missing.length > 0) {
      const at = args.findIndex((each) => each.name === missing[0]?.name);
      document.getElementById(`${id}-${at}`)?.focus();
      return;
    }
    const filled = filledIn(values.value);
    void command.start(async () => {
      const { story } = await run('prompt', { connection: connection.id, name, args: filled });
      await settled(story);
    });
  }
  useKeys({ 'Ctrl+Enter': get, r: get });

  return (
    <article class="prompts-view">
      <header class="prompts-head">
        <h1 class={title === name ? 'mono' : undefined}>{cleanLine(title, 120)}</h1>
        {title !== name && <p class="mono muted">{cleanLine(name, 120)}</p>}
        {description !== undefined && <p>{cleanLine(description, 1000)}</p>}
      </header>
      <form
        ref={form}
        class="form prompts-form"
        noValidate={true}
        onSubmit={(event) => {
          event.preventDefault();
          get();
        }}
      >
        {args.length === 0 && <p class="muted">It takes no arguments.</p>}
        {args.map((argument, at) => {
          const isMissing = isTried.value && missing.includes(argument);
          return (
            <div key={argument.name} class="form-field">
              <label for={`${id}-${at}`} class="form-label">
                <span class="form-name">
                  {cleanLine(argument.name, 80)}
                  {argument.isRequired && (
                    <span class="form-required" aria-hidden="true">
                      *
                    </span>
                  )}
                </span>
              </label>
              <div class="form-control">
                <CompletingField
                  id={`${id}-${at}`}
                  source={{ prompt: name }}
                  argument={argument.name}
                  values={values.value}
                  isRequired={argument.isRequired}
                  isInvalid={isMissing}
                  describedBy={`${id}-${at}-note`}
                  onValue={(value) => {
                    values.value = { ...values.value, [argument.name]: value };
                  }}
                />
                <span id={`${id}-${at}-note`} class="label">
                  {isMissing && <span class="prompts-failure">This argument is required. </span>}
                  <span class="muted">{cleanLine(argument.description ?? argument.title ?? '', 300)}</span>
                </span>
              </div>
            </div>
          );
        })}
        <div class="prompts-actions">
          <Button
            look="main"
            type="submit"
            keys="Ctrl+Enter"
            label="Get the messages of the prompt"
            isDisabled={!isReady || command.isRunning.value}
          >
            {command.isRunning.value ? 'Getting it' : 'Get prompt'} <Keys of="Ctrl+Enter" />
          </Button>
          <CopyPromptAs connection={connection} name={name} args={filledIn(values.value)} />
        </div>
      </form>
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
      {latest !== undefined && <PromptResult story={latest} />}
    </article>
  );
}

function filledIn(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** The values in the address, or those of the latest run. */
function initialValues({ args }: ListedPrompt, latest: Story | undefined): Readonly<Record<string, string>> {
  const { query } = route.value;
  const before = latest?.args ?? {};
  return Object.fromEntries(
    args.flatMap(({ name }) => {
      const value = query.get(name) ?? (Object.hasOwn(before, name) ? before[name] : undefined);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
