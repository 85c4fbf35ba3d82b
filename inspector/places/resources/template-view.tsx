import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId, useMemo, useRef } from 'preact/hooks';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { CompletingField } from '../../form/completion/completing-field.js';
import { Badge } from '../../parts/badge.js';
import { Button, Keys } from '../../parts/controls/button.js';
import { CopyButton } from '../../parts/controls/copy-button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { useEntering } from '../../parts/list/entering.js';
import { go } from '../../state/route.js';
import type { Listed } from './listed.js';
import { ResourceView } from './resource-view.js';
import { readTemplate } from './template-values.js';

/** A template: a field for each variable, the URI that they make, and the resource behind it. */
export function TemplateView({
  connection,
  template,
}: {
  readonly connection: ConnectionView;
  readonly template: Listed;
}): VNode {
  const shape = useMemo(() => readTemplate(template.uri), [template.uri]);
  const values = useSignal<Readonly<Record<string, string>>>({});
  const opened = useSignal<string | undefined>(undefined);
  const isTried = useSignal(false);
  const id = useId();
  const uri = shape.fill(values.value);
  const missing = shape.fields.filter(({ name, isRequired }) => isRequired && !values.value[name]);

  function open(): void {
    isTried.value = true;
    if (missing.length > 0) {
      const at = shape.fields.findIndex(({ name }) => name === missing[0]?.name);
      document.getElementById(`${id}-${at}`)?.focus();
      return;
    }
    opened.value = uri;
  }
  useKeys({ 'Ctrl+Enter': open });
  const page = useRef<HTMLElement>(null);
  useEntering(template.uri, page);

  return (
    <article class="resources-view" ref={page}>
      <header class="resources-head">
        <h1>{cleanLine(template.title, 120)}</h1>
        <p class="resources-uri">
          <span class="mono">{cleanLine(template.uri, 500)}</span>
        </p>
        {template.description !== undefined && <p>{cleanLine(template.description, 1000)}</p>}
        <p class="resources-badges">
          <Badge>template</Badge>
          {template.mimeType !== undefined && <Badge>{cleanLine(template.mimeType, 80)}</Badge>}
          {template.annotations.map((annotation) => (
            <Badge key={annotation}>{annotation}</Badge>
          ))}
        </p>
      </header>
      {shape.fault !== undefined && <p class="resources-failure">{shape.fault}</p>}
      <form
        class="form resources-template"
        noValidate={true}
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        {shape.fields.map(({ name, isList, isRequired }, at) => {
          const isMissing = isTried.value && missing.some((each) => each.name === name);
          return (
            <div key={name} class="form-field">
              <label for={`${id}-${at}`} class="form-label">
                <span class="form-name">
                  {cleanLine(name, 80)}
                  {isRequired && (
                    <span class="form-required" aria-hidden="true">
                      *
                    </span>
                  )}
                </span>
              </label>
              <div class="form-control">
                <CompletingField
                  id={`${id}-${at}`}
                  source={{ template: template.uri }}
                  argument={name}
                  values={values.value}
                  isRequired={isRequired}
                  isInvalid={isMissing}
                  describedBy={`${id}-${at}-note`}
                  placeholder={isList ? 'several, separated by commas' : ''}
                  onValue={(value) => {
                    values.value = { ...values.value, [name]: value };
                  }}
                />
                <span id={`${id}-${at}-note`} class="resources-failure label">
                  {isMissing && 'The URI needs a value here.'}
                </span>
              </div>
            </div>
          );
        })}
        <p class="resources-preview">
          <span class="mono">{cleanLine(uri, 500)}</span>
          <CopyButton text={uri} label="Copy the URI" />
        </p>
        <div class="resources-bar">
          <Button look="main" type="submit" keys="Ctrl+Enter" isDisabled={shape.fault !== undefined}>
            Read <Keys of="Ctrl+Enter" />
          </Button>
          {opened.value !== undefined && (
            <Button look="quiet" icon="link" onClick={() => opened.value && go('resources', opened.value)}>
              Open alone
            </Button>
          )}
        </div>
      </form>
      {opened.value !== undefined && (
        <div class="resources-opened">
          <ResourceView
            key={opened.value}
            connection={connection}
            uri={opened.value}
            listed={undefined}
            isReadAtOnce={true}
            hasHead={false}
          />
        </div>
      )}
    </article>
  );
}
