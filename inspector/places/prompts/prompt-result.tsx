import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { CopyButton } from '../../parts/controls/copy-button.js';
import { RawSwitch } from '../../parts/controls/raw-switch.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { Icon } from '../../parts/icon.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { bytes, clock, counted, duration } from '../../parts/values/format.js';
import { Content } from '../../results/content.js';
import { outcomeAddress } from '../../state/api.js';
import { useOutcome } from '../resources/reads.js';
import { messagesOf, messagesText } from './listed-prompt.js';

/** The messages of a prompt as a conversation, or as they came. */
export function PromptResult({ story }: { readonly story: Story }): VNode {
  const isRaw = useSignal(false);
  const { outcome, isFetching } = useOutcome(story);
  if (story.error !== undefined)
    return <ErrorPanel failure={story.error} title="The prompt could not be filled in." />;
  if (isFetching) return <p class="muted">Fetching {bytes(story.outcomeBytes ?? 0)}.</p>;
  if (outcome === undefined)
    return (
      <p>
        The messages are too large for a page. <a href={outcomeAddress(story.id)}>Download them</a>
      </p>
    );
  const messages = messagesOf(outcome);
  const { description } = outcome;
  return (
    <section class="prompts-result" aria-label="Messages">
      <div class="prompts-bar">
        <span class="prompts-ok" role="status">
          <Icon name="check" />
          {counted(messages.length, 'message')}
        </span>
        <span class="label muted">
          {duration(story.serverMs)}, {clock(story.at)}
        </span>
        <CopyButton text={() => messagesText(messages)} label="Copy the messages as text" />
        <RawSwitch isRaw={isRaw} />
      </div>
      {isRaw.value ? (
        <CodeBlock text={JSON.stringify(outcome, undefined, 2)} language="json" label="Raw result" />
      ) : (
        <>
          {typeof description === 'string' && description !== '' && (
            <p class="muted">{cleanLine(description, 500)}</p>
          )}
          <ol class="prompts-messages">
            {messages.map(({ role, content }, at) => (
              <li key={at} class="prompts-message">
                <span class="prompts-role label">{cleanLine(role, 20)}</span>
                <Content blocks={content.map((each) => ({ content: each }))} />
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
