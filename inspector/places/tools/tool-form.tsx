import type { VNode } from 'preact';
import type { ConnectionView, ToolView } from '../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { JsonEditor } from '../../form/json-editor.js';
import { SchemaForm } from '../../form/schema-form.js';
import { Button } from '../../parts/controls/button.js';
import { argumentsOf, type Draft, forgetDraft, setDraft } from './draft.js';
import { findingNotes, showsFindings } from './tool-findings.js';

/** The arguments as a form, or as JSON. Both keep what was typed, also when it is wrong. */
export function ToolForm({
  connection,
  view,
  schema,
  draft,
  errors,
}: {
  readonly connection: ConnectionView;
  readonly view: ToolView;
  readonly schema: JsonObject;
  readonly draft: Draft;
  readonly errors: ReadonlyMap<string, string>;
}): VNode {
  const { id } = connection;
  const isJson = draft.text !== undefined;
  const toJson = () => setDraft(id, view, { text: JSON.stringify(draft.value ?? {}, undefined, 2) });
  const toForm = () => {
    const value = argumentsOf(draft);
    // JSON that cannot be read stays in the editor: the form could not show it.
    if (value !== undefined) setDraft(id, view, { value, text: undefined });
  };
  const isUnreadable = isJson && argumentsOf(draft) === undefined;
  return (
    <section class="tools-form" aria-label="Arguments">
      <div class="tools-form-bar">
        <h2 class="label muted">Arguments</h2>
        <Button
          look="quiet"
          icon="again"
          label="Back to the defaults"
          onClick={() => forgetDraft(id, view)}
        />
        <Button
          look="quiet"
          icon="braces"
          isPressed={isJson}
          isDisabled={isUnreadable}
          label={isUnreadable ? 'The form needs JSON that can be read' : 'Write the arguments as JSON'}
          onClick={isJson ? toForm : toJson}
        >
          JSON
        </Button>
      </div>
      {draft.text !== undefined ? (
        <JsonEditor
          text={draft.text}
          label={`Arguments of ${view.tool.name} as JSON`}
          errors={errors}
          onChange={(text) => {
            const value = argumentsOf({ ...draft, text });
            setDraft(id, view, value === undefined ? { text } : { text, value });
          }}
        />
      ) : (
        <SchemaForm
          schema={schema}
          value={draft.value}
          onChange={(value) => setDraft(id, view, { value })}
          errors={errors}
          idPrefix="argument"
          notes={showsFindings.value ? findingNotes(view) : undefined}
        />
      )}
    </section>
  );
}
