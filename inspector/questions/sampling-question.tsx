import type { VNode } from 'preact';
import type { QuestionView } from '../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../src/jsonrpc/message.js';
import { clean, cleanLine } from '../../src/tooling/clean.js';
import { Content } from '../results/content.js';
import type { Draft, ReplyDraft } from './answers/drafts.js';

const MAX_MESSAGES = 100;
const MAX_BLOCKS = 50;
const STOP_REASONS = ['endTurn', 'maxTokens', 'stopSequence', 'toolUse'];

/** A question to the model: its messages, and an editor for the reply. */
export function SamplingQuestion({
  question,
  draft,
  set,
}: {
  readonly question: QuestionView;
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}): VNode {
  const sampling = question.sampling ?? {};
  const reply = draft.value as ReplyDraft;
  const change = (part: Partial<ReplyDraft>): void => set({ value: { ...reply, ...part } });
  const system = sampling['systemPrompt'];
  const id = `reply-${question.id}`;
  return (
    <div class="sampling">
      {typeof system === 'string' && (
        <details class="sampling-system" open={system.length < 400}>
          <summary class="label muted">System prompt</summary>
          <p class="sampling-text">{clean(system.slice(0, 20_000))}</p>
        </details>
      )}
      <div class="sampling-messages">
        <Content blocks={blocksOf(sampling)} />
      </div>
      <p class="label muted">{factsOf(sampling)}</p>
      <div class="sampling-field">
        <label class="label" for={id}>
          Reply
        </label>
        <textarea
          id={id}
          class="field"
          rows={4}
          value={reply.text}
          aria-invalid={draft.isTried && reply.text === ''}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      </div>
      <div class="sampling-line">
        <div class="sampling-field">
          <label class="label" for={`${id}-model`}>
            Model
          </label>
          <input
            id={`${id}-model`}
            class="field"
            value={reply.model}
            aria-invalid={reply.model.trim() === ''}
            onInput={(event) => change({ model: event.currentTarget.value })}
          />
        </div>
        <div class="sampling-field">
          <label class="label" for={`${id}-stop`}>
            Stop reason
          </label>
          <select
            id={`${id}-stop`}
            class="field"
            value={reply.stopReason}
            onChange={(event) => change({ stopReason: event.currentTarget.value })}
          >
            {STOP_REASONS.map((reason) => (
              <option key={reason}>{reason}</option>
            ))}
          </select>
        </div>
      </div>
      {Array.isArray(sampling['tools']) && sampling['tools'].length > 0 && (
        <p class="label muted">
          To use a tool, write the reply as JSON with a content block of the type tool_use.
        </p>
      )}
    </div>
  );
}

/** The messages as blocks of content, each with its role. */
function blocksOf({
  messages,
}: JsonObject): readonly { readonly content: JsonObject; readonly role?: string }[] {
  if (!Array.isArray(messages)) return [];
  return messages.slice(-MAX_MESSAGES).flatMap((message: unknown) => {
    if (!isObject(message)) return [];
    const { content, role } = message;
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
    return blocks
      .slice(0, MAX_BLOCKS)
      .filter(isObject)
      .map((block, at) => ({ content: block, ...(at === 0 && typeof role === 'string' && { role }) }));
  });
}

function factsOf(sampling: JsonObject): string {
  const { maxTokens, temperature, tools, includeContext, stopSequences } = sampling;
  const facts = [
    typeof maxTokens === 'number' && `at most ${maxTokens} tokens`,
    typeof temperature === 'number' && `temperature ${temperature}`,
    Array.isArray(stopSequences) && stopSequences.length > 0 && `${stopSequences.length} stop sequences`,
    typeof includeContext === 'string' && `context: ${cleanLine(includeContext, 40)}`,
    Array.isArray(tools) && tools.length > 0 && `tools: ${toolNames(tools)}`,
  ];
  return facts.filter(Boolean).join(' · ');
}

function toolNames(tools: readonly unknown[]): string {
  const names = tools.slice(0, 20).map((tool) => (isObject(tool) ? String(tool['name']) : '?'));
  return cleanLine(names.join(', '), 200);
}
