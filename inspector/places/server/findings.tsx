import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { CatalogView, FindingView } from '../../../src/inspector/contract/connection.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { CopyButton } from '../../parts/controls/copy-button.js';
import { Empty } from '../../parts/empty.js';
import { Icon } from '../../parts/icon.js';
import { counted } from '../../parts/values/format.js';
import { addressOf } from '../../state/route.js';
import { TONES } from '../tools/tool-findings.js';

const SEVERITIES = ['error', 'warning', 'advice'] as const;
const SHOWN_AT_FIRST = 100;
/** With more findings than this, most are the same one in many places. */
const MANY = 30;
const PLACES: Readonly<Record<string, string>> = { tool: 'tools', prompt: 'prompts', resource: 'resources' };

/** The findings of lint in the lists of a server, each with its fix: by what they are about or, if there are many, by their rules. */
export function Findings({ catalog }: { readonly catalog: CatalogView | undefined }): VNode {
  const shown = useSignal<FindingView['severity'] | undefined>(undefined);
  const order = useSignal<'rule' | 'subject' | undefined>(undefined);
  if (catalog === undefined) return <Empty title="The lists are not fetched yet." />;
  const { findings, failures } = catalog;
  const chosen = findings.filter(({ severity }) => shown.value === undefined || severity === shown.value);
  const isByRule = (order.value ?? (findings.length > MANY ? 'rule' : 'subject')) === 'rule';
  return (
    <div class="server-findings">
      {failures.map(({ list, message }) => (
        <p key={list} class="server-exit">
          {cleanLine(list, 40)} could not be listed: {clean(message.slice(0, 500))}
        </p>
      ))}
      {findings.length === 0 && (
        <Empty title="Nothing to improve.">Names, descriptions and schemas are as models like them.</Empty>
      )}
      {findings.length > 0 && (
        <div class="server-finding-bar">
          <div class="server-choices" role="group" aria-label="Severity">
            <Button
              look="quiet"
              isPressed={shown.value === undefined}
              onClick={() => (shown.value = undefined)}
            >
              All {findings.length}
            </Button>
            {SEVERITIES.map((severity) => {
              const count = findings.filter((each) => each.severity === severity).length;
              if (count === 0) return null;
              return (
                <Button
                  key={severity}
                  look="quiet"
                  isPressed={shown.value === severity}
                  onClick={() => (shown.value = severity)}
                >
                  {severity === 'advice' ? `${count} advice` : counted(count, severity)}
                </Button>
              );
            })}
          </div>
          <div class="server-choices" role="group" aria-label="Order">
            <Button look="quiet" isPressed={isByRule} onClick={() => (order.value = 'rule')}>
              By rule
            </Button>
            <Button look="quiet" isPressed={!isByRule} onClick={() => (order.value = 'subject')}>
              By definition
            </Button>
          </div>
          <CopyButton text={() => chosen.map(printed).join('\n')} label="Copy all" hasWord />
        </div>
      )}
      {isByRule ? <ByRule findings={chosen} /> : <BySubject findings={chosen} />}
    </div>
  );
}

function BySubject({ findings }: { readonly findings: readonly FindingView[] }): VNode {
  const limit = useSignal(SHOWN_AT_FIRST);
  const groups = grouped(findings.slice(0, limit.value), ({ kind, name }) => `${kind} ${name}`);
  return (
    <>
      {groups.map(([subject, list]) => (
        <section key={subject} class="server-finding-group">
          <h2>{list[0] && <Subject finding={list[0]} hasKind />}</h2>
          <ul>
            {list.map((finding) => (
              <li key={`${finding.rule} ${finding.path} ${finding.message}`} class="server-finding">
                <Badge tone={TONES[finding.severity]}>{finding.severity}</Badge>
                <div>
                  <p>
                    {finding.path && <code>{cleanLine(finding.path, 100)} </code>}
                    {cleanLine(finding.message, 500)}
                  </p>
                  {finding.fix !== undefined && <p class="muted">{cleanLine(finding.fix, 500)}</p>}
                </div>
                <code class="muted">{cleanLine(finding.rule, 60)}</code>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <More of={findings.length} limit={limit} step={SHOWN_AT_FIRST} />
    </>
  );
}

/** One block for each rule, with its fix once. In it, one line for each finding, however many definitions have it. */
function ByRule({ findings }: { readonly findings: readonly FindingView[] }): VNode {
  const groups = [...grouped(findings, ({ rule }) => rule)].sort(
    ([, [one]], [, [other]]) => severityOf(one) - severityOf(other),
  );
  return (
    <>
      {groups.map(([rule, list]) => (
        <section key={rule} class="server-finding-group" aria-label={cleanLine(rule, 60)}>
          <h2 class="server-finding-rule">
            {list[0] && <Badge tone={TONES[list[0].severity]}>{list[0].severity}</Badge>}
            <code>{cleanLine(rule, 60)}</code>
            <span class="muted">{counted(list.length, 'finding')}</span>
          </h2>
          {list[0]?.fix !== undefined && <p class="muted">{cleanLine(list[0].fix, 500)}</p>}
          <SameFindings findings={list} />
        </section>
      ))}
    </>
  );
}

/** The findings of a rule, those of most definitions first. */
function SameFindings({ findings }: { readonly findings: readonly FindingView[] }): VNode {
  const limit = useSignal(SHOWN_LINES);
  const lines = [...grouped(findings, ({ message }) => message)].sort(
    ([, one], [, other]) => other.length - one.length,
  );
  return (
    <>
      <ul>
        {lines.slice(0, limit.value).map(([message, same]) => (
          <SameFinding key={message} findings={same} />
        ))}
      </ul>
      <More of={lines.length} limit={limit} step={SHOWN_AT_FIRST} />
    </>
  );
}

const SHOWN_LINES = 10;
const SHOWN_SUBJECTS = 8;

/** A line for one or more definitions that have the same finding. It names a few; many are listed when it is opened. */
function SameFinding({ findings }: { readonly findings: readonly FindingView[] }): VNode {
  const isOpen = useSignal(false);
  const limit = useSignal(SHOWN_AT_FIRST);
  const id = useId();
  const [first] = findings;
  const isOneField = findings.every(({ path }) => path === first?.path);
  const isMany = findings.length > SHOWN_SUBJECTS;
  const words = (
    <>
      {isOneField && first?.path && <code>{cleanLine(first.path, 100)} </code>}
      {cleanLine(first?.message ?? '', 300)}
      {findings.length > 1 && <span class="muted"> in {findings.length}</span>}
    </>
  );
  return (
    <li class="server-finding-field">
      {isMany ? (
        <button
          type="button"
          class="server-finding-line"
          aria-expanded={isOpen.value}
          aria-controls={id}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon name={isOpen.value ? 'down' : 'right'} size={12} />
          <span>{words}</span>
        </button>
      ) : (
        <p>{words}</p>
      )}
      <div id={id} class="server-finding-subjects" hidden={isMany && !isOpen.value}>
        {(!isMany || isOpen.value) &&
          findings.slice(0, limit.value).map((finding) => (
            <span key={`${finding.kind} ${finding.name} ${finding.path}`}>
              <Subject finding={finding} />
              {!isOneField && finding.path && <code class="muted"> {cleanLine(finding.path, 60)}</code>}
            </span>
          ))}
        {isOpen.value && <More of={findings.length} limit={limit} step={SHOWN_AT_FIRST * 2} />}
      </div>
    </li>
  );
}

/** A button that shows more of a long list. */
function More({
  of,
  limit,
  step,
}: {
  readonly of: number;
  readonly limit: Signal<number>;
  readonly step: number;
}): VNode | null {
  if (of <= limit.value) return null;
  return (
    <Button onClick={() => (limit.value += step)}>
      Show {Math.min(step, of - limit.value)} more of {of}
    </Button>
  );
}

/** The name of what a finding is about, as a link to it. */
function Subject({
  finding: { kind, name },
  hasKind = false,
}: {
  readonly finding: FindingView;
  readonly hasKind?: boolean;
}): VNode {
  const place = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined;
  return (
    <span>
      {(hasKind || kind !== 'tool') && <span class="muted">{kind} </span>}
      {place === undefined ? (
        <span class="mono">{cleanLine(name, 120)}</span>
      ) : (
        <a class="mono" href={addressOf(place, name)}>
          {cleanLine(name, 120)}
        </a>
      )}
    </span>
  );
}

/** A finding on one line, for a ticket or a chat. */
function printed({ severity, rule, kind, name, path, message, fix }: FindingView): string {
  const where = `${kind} ${name}${path ? ` ${path}` : ''}`;
  return cleanLine(`${severity} ${rule}: ${where}: ${message}. ${fix ?? ''}`, 1000).trimEnd();
}

function severityOf(finding: FindingView | undefined): number {
  return SEVERITIES.indexOf(finding?.severity ?? 'advice');
}

function grouped(
  findings: readonly FindingView[],
  keyOf: (finding: FindingView) => string,
): readonly (readonly [string, readonly FindingView[]])[] {
  const groups = new Map<string, FindingView[]>();
  for (const finding of findings) {
    const key = keyOf(finding);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups];
}
