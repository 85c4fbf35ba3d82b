import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { CatalogView, FindingView } from '../../../src/inspector/contract/connection.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { Empty } from '../../parts/empty.js';
import { counted } from '../../parts/values/format.js';
import { addressOf } from '../../state/route.js';

const TONES: Readonly<Record<FindingView['severity'], Tone>> = {
  error: 'err',
  warning: 'warn',
  advice: 'plain',
};
const SEVERITIES = ['error', 'warning', 'advice'] as const;
const SHOWN_AT_FIRST = 100;
const PLACES: Readonly<Record<string, string>> = { tool: 'tools', prompt: 'prompts', resource: 'resources' };

/** The findings of lint in the lists of a server, each with its fix. */
export function Findings({ catalog }: { readonly catalog: CatalogView | undefined }): VNode {
  const shown = useSignal<FindingView['severity'] | undefined>(undefined);
  const limit = useSignal(SHOWN_AT_FIRST);
  if (catalog === undefined) return <Empty title="The lists are not fetched yet." />;
  const { findings, failures } = catalog;
  const chosen = findings.filter(({ severity }) => shown.value === undefined || severity === shown.value);
  const groups = grouped(chosen.slice(0, limit.value));
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
                {severity === 'advice' ? `advice ${count}` : counted(count, severity)}
              </Button>
            );
          })}
        </div>
      )}
      {groups.map(([subject, list]) => (
        <section key={subject} class="server-finding-group">
          <h2>
            <Subject text={subject} />
          </h2>
          <ul>
            {list.map((finding) => (
              <li key={`${finding.rule} ${finding.message}`} class="server-finding">
                <Badge tone={TONES[finding.severity]}>{finding.severity}</Badge>
                <div>
                  <p>{cleanLine(finding.message, 500)}</p>
                  {finding.fix !== undefined && <p class="muted">{cleanLine(finding.fix, 500)}</p>}
                </div>
                <code class="muted">{cleanLine(finding.rule, 60)}</code>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {chosen.length > limit.value && (
        <Button onClick={() => (limit.value += SHOWN_AT_FIRST)}>
          Show {Math.min(SHOWN_AT_FIRST, chosen.length - limit.value)} more of {chosen.length}
        </Button>
      )}
    </div>
  );
}

/** The name of what a finding is about, as a link to it. */
function Subject({ text }: { readonly text: string }): VNode {
  const space = text.indexOf(' ');
  const kind = space < 0 ? '' : text.slice(0, space);
  const name = text.slice(space + 1);
  const place = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined;
  if (place === undefined) return <span>{cleanLine(text, 120)}</span>;
  return (
    <>
      <span class="muted">{kind}</span> <a href={addressOf(place, name)}>{cleanLine(name, 120)}</a>
    </>
  );
}

function grouped(findings: readonly FindingView[]): readonly (readonly [string, readonly FindingView[]])[] {
  const groups = new Map<string, FindingView[]>();
  for (const finding of findings) {
    const group = groups.get(finding.subject);
    if (group === undefined) groups.set(finding.subject, [finding]);
    else group.push(finding);
  }
  return [...groups];
}
