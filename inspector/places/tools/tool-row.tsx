import { computed, type ReadonlySignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ToolView } from '../../../src/inspector/contract/connection.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import { fieldsOf } from '../../../src/schema/read/across-branches.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon, type IconName } from '../../parts/icon.js';
import type { ListItem, Mark } from '../../parts/list/list.js';
import { RowName } from '../../parts/list/list-place.js';
import { addressOf } from '../../state/route.js';
import { ownStories } from '../../state/store.js';
import { schemaOf } from './draft.js';
import { FindingMark, markedTools } from './tool-findings.js';

const MAX_PARAMETERS = 3;
const MAX_RECENT = 5;

/** The marks of tools that the list can be filtered by. */
export const TOOL_MARKS: readonly Mark[] = [
  { id: 'findings', label: 'findings', icon: 'info' },
  { id: 'read-only', label: 'read-only', icon: 'eye' },
  { id: 'destructive', label: 'destructive', icon: 'warning' },
  { id: 'asks', label: 'asked you before', icon: 'question' },
  { id: 'task', label: 'task', icon: 'tasks' },
  { id: 'app', label: 'app', icon: 'image' },
  { id: 'failed', label: 'failed last', icon: 'cross' },
];

interface CallFacts {
  /** The tools that were called last, the latest first. */
  readonly recent: readonly string[];
  /** Whether a tool asks is not in its description: it is known when it has asked. */
  readonly asked: readonly string[];
  /** The tools whose latest call failed. */
  readonly failed: readonly string[];
}

let facts: CallFacts = { recent: [], asked: [], failed: [] };

/** The facts about tools from the calls so far. It is the same object until something in it changes: most events change nothing. */
export const callFacts: ReadonlySignal<CallFacts> = computed(() => {
  const next = factsOf(ownStories.value);
  const { recent, asked, failed } = facts;
  if (!isSame(recent, next.recent) || !isSame(asked, next.asked) || !isSame(failed, next.failed))
    facts = next;
  return facts;
});

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each, at) => each === others[at]);
}

function factsOf(stories: readonly Story[]): CallFacts {
  const latest = new Map<string, Story>();
  const asked = new Set<string>();
  for (const story of stories) {
    if (story.method !== 'tools/call' || story.kind === 'unsolicited') continue;
    // Called again, a tool becomes the latest one.
    latest.delete(story.title);
    latest.set(story.title, story);
    if (story.questions.length > 0) asked.add(story.title);
  }
  const failed = [...latest.values()].filter(({ state }) => state === 'error' || state === 'tool-error');
  return {
    recent: [...latest.keys()].slice(-MAX_RECENT).reverse(),
    asked: [...asked],
    failed: failed.map(({ title }) => title),
  };
}

/** The tools as items of the list. */
export function toolItems(views: readonly ToolView[], { asked, failed }: CallFacts): readonly ListItem[] {
  const [askers, failures] = [new Set(asked), new Set(failed)];
  const found = markedTools.value;
  return views.map((view) => {
    const { tool, isReadOnly, isDestructive, task, app } = view;
    const is: Readonly<Record<string, boolean>> = {
      findings: found.has(tool.name),
      'read-only': isReadOnly,
      destructive: isDestructive,
      asks: askers.has(tool.name),
      task: task !== 'never',
      app: app !== undefined,
      failed: failures.has(tool.name),
    };
    const marks = TOOL_MARKS.filter(({ id }) => is[id]).map(({ id }) => id);
    const description = textOf(tool['description'], 2000);
    return {
      id: tool.name,
      name: tool.name,
      text: `${description} ${textOf(tool['title'], 200)}`,
      // Names can be long, and most of them are never drawn.
      get href() {
        return addressOf('tools', tool.name);
      },
      marks,
      content: (prefix) => <ToolRow view={view} description={description} marks={marks} prefix={prefix} />,
    };
  });
}

function ToolRow({
  view,
  description,
  marks,
  prefix,
}: {
  readonly view: ToolView;
  readonly description: string;
  readonly marks: readonly string[];
  readonly prefix: number;
}): VNode {
  return (
    <>
      <span class="tools-row-head">
        <span class="mono tools-row-name">
          <RowName name={view.tool.name} prefix={prefix} />
        </span>
        <span class="mono muted tools-row-parameters">{parameters(view)}</span>
        <Marks view={view} marks={marks} />
      </span>
      <span class="muted tools-row-description" title={cleanLine(description, 600)}>
        {cleanLine(description, 160)}
      </span>
    </>
  );
}

function Marks({ view, marks }: { readonly view: ToolView; readonly marks: readonly string[] }): VNode {
  const shown: [IconName, string][] = [];
  if (marks.includes('asks')) shown.push(['question', 'Asked you before']);
  if (view.task === 'always') shown.push(['tasks', 'Runs as a task']);
  if (view.isDestructive) shown.push(['warning', 'Destructive']);
  return (
    <span class="tools-row-marks">
      {shown.map(([icon, label]) => (
        <Icon key={icon} name={icon} label={label} size={12} />
      ))}
      {marks.includes('failed') && (
        <span class="tools-row-findings is-err">
          <Icon name="cross" label="The latest call failed" size={12} />
        </span>
      )}
      <FindingMark tool={view.tool.name} />
    </span>
  );
}

/** `a, b` or `from?, stepMs?`; many are a number. */
function parameters({ tool }: ToolView): string {
  const schema = schemaOf(tool);
  const all = fieldsOf(schema, schema);
  if (all.length > MAX_PARAMETERS) return String(all.length);
  return cleanLine(all.map(({ name, isRequired }) => (isRequired ? name : `${name}?`)).join(', '), 60);
}

function textOf(value: unknown, limit: number): string {
  return typeof value === 'string' ? value.slice(0, limit) : '';
}
