import './requests.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { Dialog } from '../../parts/popup/dialog.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { requestsFile } from '../../state/store.js';
import { toast } from '../../state/toast.js';

type Expected = 'equal' | 'contains' | 'matches' | 'fails' | 'nothing';

const WORDS: Readonly<Record<Expected, string>> = {
  equal: 'is equal to',
  contains: 'contains',
  matches: 'matches the schema',
  fails: 'fails with',
  nothing: 'succeeds',
};

/** Keeps a run in the file of the project, under a name and with what is expected of its result. */
export function SaveRequest({
  story,
  schema,
  onClose,
}: {
  readonly story: Story;
  /** The output schema of the tool. */
  readonly schema: unknown;
  readonly onClose: () => void;
}): VNode {
  const hasFailed = story.state !== 'ok';
  const kind = useSignal<Expected>(hasFailed ? 'fails' : 'equal');
  const name = useSignal(nameOf(story));
  const text = useSignal(textFor(kind.value, story, schema));
  const mayReplace = useSignal(false);
  const command = useCommand();
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const isSaved = await command.start(async () => {
      const expect = expectationOf(kind.value, text.value, valueOfResult(story));
      const replace = mayReplace.value;
      await run('saveRequest', { story: story.id, name: name.value.trim(), expect, replace });
    });
    if (!isSaved) {
      mayReplace.value = command.failure.value?.message.startsWith('There is a request') === true;
      return;
    }
    toast(`Saved in ${requestsFile.value ?? 'the file'}`);
    onClose();
  };
  return (
    <Dialog label="Keep this request" onClose={onClose}>
      <form class="save-request" onSubmit={(event) => void save(event)}>
        <h2>Keep this request</h2>
        <label>
          Name
          <input
            class="field"
            required
            maxLength={200}
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value;
              mayReplace.value = false;
            }}
          />
        </label>
        <label>
          The result
          <select
            class="field"
            value={kind.value}
            onChange={(event) => {
              kind.value = event.currentTarget.value as Expected;
              text.value = textFor(kind.value, story, schema);
            }}
          >
            {(Object.keys(WORDS) as Expected[]).map((one) => (
              <option key={one} value={one}>
                {WORDS[one]}
              </option>
            ))}
          </select>
        </label>
        {kind.value !== 'nothing' && (
          <label>
            Expected
            <textarea
              class="field"
              spellcheck={false}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value;
              }}
            />
          </label>
        )}
        <p class="muted">
          It is written to {requestsFile.value}, without secrets, and <code>fullmcp test</code> runs it.
        </p>
        {command.failure.value && <ErrorPanel failure={command.failure.value} />}
        <div class="save-request-buttons">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" type="submit" isDisabled={command.isRunning.value}>
            {mayReplace.value ? 'Replace it' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function nameOf({ title, args }: Story): string {
  const values = Object.values(args ?? {}).filter((value) => typeof value !== 'object');
  return cleanLine([title, ...values.map(String)].join(' '), 80);
}

/** The value of a result, as `fullmcp test` compares it: the structured content, or else the text. */
function valueOfResult({ outcome }: Story): unknown {
  if (outcome?.['structuredContent'] !== undefined) return outcome['structuredContent'];
  const parts = outcome?.['content'] ?? outcome?.['contents'];
  const texts = (Array.isArray(parts) ? parts : []).filter(isObject).map((part) => part['text']);
  return texts.filter((part) => typeof part === 'string').join('\n');
}

function textFor(kind: Expected, story: Story, schema: unknown): string {
  const value = valueOfResult(story);
  switch (kind) {
    case 'equal':
    case 'contains':
      return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
    case 'matches':
      return JSON.stringify(isObject(schema) ? schema : { type: typeof value }, undefined, 2);
    case 'fails':
      return story.error?.message ?? (typeof value === 'string' ? value : '');
    case 'nothing':
      return '';
  }
}

/**
 * The text that was typed. It is a string if the result is text, and JSON otherwise: `42` is expected of `42 apples`, too. Only where both are
 * objects or arrays, JSON inside of text is compared as JSON, however it is written.
 */
export function expectationOf(kind: Expected, text: string, result: unknown): JsonObject {
  if (kind === 'nothing') return {};
  if (kind === 'fails') return { fails: text.trim() === '' ? true : text.trim().slice(0, 1000) };
  const parsed = tryParse(text);
  const isJson = parsed !== undefined && (typeof result !== 'string' || isWhole(parsed, tryParse(result)));
  return { [kind]: isJson || kind === 'matches' ? (parsed ?? text) : text };
}

function isWhole(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'object' && value !== null);
}
