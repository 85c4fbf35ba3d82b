import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { FindingView, ToolView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Icon } from '../../parts/icon.js';
import { counted } from '../../parts/values/format.js';
import { addressOf } from '../../state/route.js';
import { catalog } from '../../state/store.js';

export const TONES: Readonly<Record<FindingView['severity'], Tone>> = {
  error: 'err',
  warning: 'warn',
  advice: 'plain',
};

/** Whether the findings of a tool are shown, below its name and at its fields. */
export const showsFindings: Signal<boolean> = signal(false);

const byTool: ReadonlySignal<ReadonlyMap<string, readonly FindingView[]>> = computed(() => {
  const found = new Map<string, FindingView[]>();
  for (const finding of catalog.value?.findings ?? []) {
    if (finding.kind !== 'tool') continue;
    const own = found.get(finding.name);
    if (own === undefined) found.set(finding.name, [finding]);
    else own.push(finding);
  }
  return found;
});

/** The tools that have a mark: those with errors or warnings. Nearly every tool has advice, so that advice is not marked. */
export const markedTools: ReadonlySignal<ReadonlySet<string>> = computed(
  () =>
    new Set(
      (catalog.value?.findings ?? [])
        .filter(({ kind, severity }) => kind === 'tool' && severity !== 'advice')
        .map(({ name }) => name),
    ),
);

/** The findings of lint about a tool, the severest first. */
function findingsOf(tool: string): readonly FindingView[] {
  return byTool.value.get(tool) ?? [];
}

/** The mark of a tool in the list: its errors and warnings. */
export function FindingMark({ tool }: { readonly tool: string }): VNode | null {
  const findings = findingsOf(tool);
  const count = (severity: string): number => findings.filter((each) => each.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (errors + warnings === 0) return null;
  const words = [errors > 0 && counted(errors, 'error'), warnings > 0 && counted(warnings, 'warning')];
  return (
    <span class={errors > 0 ? 'tools-row-findings is-err' : 'tools-row-findings'}>
      <Icon name="info" size={12} label={`Findings: ${words.filter(Boolean).join(', ')}`} />
    </span>
  );
}

/** The line below the name of a tool, as in "3 findings · 1,061 tokens". It opens the findings. */
export function FindingLine({ view }: { readonly view: ToolView }): VNode {
  const findings = findingsOf(view.tool.name);
  const tokens = `${view.tokens.toLocaleString('en')} ${view.tokens === 1 ? 'token' : 'tokens'}`;
  if (findings.length === 0)
    return (
      <p class="label muted" title="An estimate of what the tool takes of a model's context">
        No findings · {tokens}
      </p>
    );
  const ofTool = findings.filter((finding) => fieldOf(finding) === undefined);
  const elsewhere = findings.length - ofTool.length;
  return (
    <div class="tools-findings">
      <button
        type="button"
        class="tools-more label"
        aria-expanded={showsFindings.value}
        onClick={() => {
          showsFindings.value = !showsFindings.value;
        }}
      >
        <Icon name={showsFindings.value ? 'down' : 'right'} size={12} />
        {counted(findings.length, 'finding')} · {tokens}
      </button>
      {showsFindings.value && (
        <>
          <FindingList findings={ofTool} />
          <p class="label muted">
            {elsewhere > 0 && `${counted(elsewhere, 'finding is', 'findings are')} at the fields below. `}
            <a href={addressOf('server', 'findings')}>All findings of the server</a>
          </p>
        </>
      )}
    </div>
  );
}

/** Findings with their fixes. */
function FindingList({ findings }: { readonly findings: readonly FindingView[] }): VNode | null {
  if (findings.length === 0) return null;
  return (
    <ul class="tools-finding-list">
      {findings.slice(0, MAX_SHOWN).map(({ severity, rule, message, fix, path = '' }) => (
        <li key={`${rule} ${path} ${message}`}>
          <Badge tone={TONES[severity]} title={rule}>
            {severity}
          </Badge>
          <span>
            {path.includes('.') || path.includes('[') ? <code>{cleanLine(path, 80)}</code> : ''}{' '}
            {cleanLine(message, 300)}. <span class="muted">{cleanLine(fix ?? '', 300)}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

const MAX_SHOWN = 50;

/** The findings about arguments, by the JSON pointers of their fields. */
export function findingNotes(view: ToolView): ReadonlyMap<string, VNode> {
  const groups = new Map<string, FindingView[]>();
  for (const finding of findingsOf(view.tool.name)) {
    const field = fieldOf(finding);
    if (field !== undefined) groups.set(field, [...(groups.get(field) ?? []), finding]);
  }
  return new Map(
    [...groups].map(([field, own]) => [`/${field}`, <FindingList key={field} findings={own} />]),
  );
}

/** The argument that a finding is about, `lines` of `lines[].price`; undefined if it is about the tool. */
function fieldOf({ path = '' }: FindingView): string | undefined {
  const [name = ''] = path.split(/[.[]/, 1);
  return name === '' || name === '$defs' ? undefined : name;
}
