import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ToolView } from '../../../src/inspector/contract/connection.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { JsonTree } from '../../parts/values/json-tree.js';
import { FindingLine } from './tool-findings.js';

const LONG = 240;

/** The name of a tool, what it says about itself, and what it does to the world. */
export function ToolHead({ view }: { readonly view: ToolView }): VNode {
  const isWhole = useSignal(false);
  const { tool } = view;
  const title = tool['title'];
  const description = typeof tool['description'] === 'string' ? tool['description'] : '';
  const isLong = description.length > LONG;
  return (
    <header class="tools-head">
      <div class="tools-title">
        <h1 class="mono">{cleanLine(tool.name, 120)}</h1>
        {typeof title === 'string' && title !== tool.name && (
          <span class="muted">{cleanLine(title, 120)}</span>
        )}
        {view.isReadOnly && <Badge title="It says that it changes nothing">read-only</Badge>}
        {view.isDestructive && (
          <Badge tone="warn" title="It says that it may destroy something">
            destructive
          </Badge>
        )}
        {view.task !== 'never' && (
          <Badge>{view.task === 'always' ? 'runs as a task' : 'can run as a task'}</Badge>
        )}
        {view.app !== undefined && <Badge>app</Badge>}
        {view.scores?.map(({ model, passed, of, day, isChanged }) => (
          <Badge
            key={model}
            tone={passed < of || isChanged ? 'warn' : 'ok'}
            title={`Evals with ${cleanLine(model, 100)}, ${cleanLine(day, 20)}${isChanged ? '; the definition has changed since' : ''}`}
          >
            evals {passed} of {of}
          </Badge>
        ))}
      </div>
      <FindingLine view={view} />
      {description !== '' && (
        <p class="muted tools-description">
          {clean(isLong && !isWhole.value ? `${description.slice(0, LONG)}…` : description.slice(0, 20_000))}{' '}
          {isLong && (
            <button
              type="button"
              class="tools-more"
              onClick={() => {
                isWhole.value = !isWhole.value;
              }}
            >
              {isWhole.value ? 'less' : 'more'}
            </button>
          )}
        </p>
      )}
      <details class="tools-definition">
        <summary class="label muted">Definition</summary>
        <JsonTree value={tool} openDepth={2} label="Definition" />
      </details>
    </header>
  );
}
