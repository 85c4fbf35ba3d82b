import type { VNode } from 'preact';
import type { ToolView } from '../../../src/inspector/contract/connection.js';
import { fieldsOf } from '../../../src/schema/read/across-branches.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon, type IconName } from '../../parts/icon.js';
import type { ListItem } from '../../parts/list/list.js';
import { addressOf } from '../../state/route.js';
import { stories } from '../../state/store.js';
import { schemaOf } from './draft.js';
import { FindingMark } from './tool-findings.js';

const MAX_PARAMETERS = 3;

/** A tool as an item of the list. */
export function toolItem(view: ToolView): ListItem {
  const { tool } = view;
  const description = describe(tool);
  return {
    id: tool.name,
    name: tool.name,
    text: `${description} ${String(tool['title'] ?? '')}`,
    href: addressOf('tools', tool.name),
    content: <ToolRow view={view} description={description} />,
  };
}

function ToolRow({ view, description }: { readonly view: ToolView; readonly description: string }): VNode {
  const { tool } = view;
  return (
    <>
      <span class="tools-row-head">
        <span class="mono tools-row-name">{cleanLine(tool.name, 100)}</span>
        <span class="mono muted tools-row-parameters">{parameters(view)}</span>
        <Marks view={view} />
      </span>
      <span class="muted tools-row-description" title={cleanLine(description, 600)}>
        {cleanLine(description, 160)}
      </span>
    </>
  );
}

function Marks({ view }: { readonly view: ToolView }): VNode {
  const marks: [IconName, string][] = [];
  if (asks(view.tool.name)) marks.push(['question', 'Asked you before']);
  if (view.task === 'always') marks.push(['tasks', 'Runs as a task']);
  if (view.isDestructive) marks.push(['warning', 'Destructive']);
  return (
    <span class="tools-row-marks">
      {marks.map(([icon, label]) => (
        <Icon key={icon} name={icon} label={label} size={12} />
      ))}
      <FindingMark tool={view.tool.name} />
    </span>
  );
}

/** Whether a tool asks is not in its description: it is known when it has asked. */
function asks(name: string): boolean {
  for (const story of stories.value.values())
    if (story.title === name && story.questions.length > 0) return true;
  return false;
}

/** `a, b` or `from?, stepMs?`; many are a number. */
function parameters({ tool }: ToolView): string {
  const schema = schemaOf(tool);
  const all = fieldsOf(schema, schema);
  if (all.length > MAX_PARAMETERS) return String(all.length);
  return cleanLine(all.map(({ name, isRequired }) => (isRequired ? name : `${name}?`)).join(', '), 60);
}

function describe(tool: ToolView['tool']): string {
  const description = tool['description'];
  return typeof description === 'string' ? description.slice(0, 2000) : '';
}
