import type { VNode } from 'preact';
import type { LogLine } from '../../src/inspector/contract/message.js';
import { clean, cleanLine } from '../../src/tooling/clean.js';
import { type LoggedError, refIn } from '../../src/tooling/process-output.js';
import { addressOf } from '../state/route.js';
import { logs } from '../state/store.js';
import { CodeBlock } from './values/code-block.js';

/** The address of the line in the log that has this reference. */
function refAddress(ref: string): string {
  return `${addressOf('server', 'logs')}?ref=${ref}`;
}

/** The line of the log that has this reference; undefined if the log is elsewhere, or does not have it any more. */
export function lineOf(lines: readonly LogLine[], ref: string): LogLine | undefined {
  return lines.findLast(({ error, text }) => error?.ref === ref || text.includes(`(ref ${ref})`));
}

/** The message of an error. Its reference is a link to the stack in the log, and the program's own line stands below. */
export function MessageWithRef({ text }: { readonly text: string }): VNode {
  const ref = refIn(text);
  const line = ref === undefined ? undefined : lineOf(logs.value, ref);
  if (ref === undefined || line === undefined) return <>{clean(text)}</>;
  const [before = '', after = ''] = text.split(`ref ${ref}`, 2);
  return (
    <>
      {clean(before)}
      <a href={refAddress(ref)} title="The stack in the log">
        ref {ref}
      </a>
      {clean(after)}
      {line.error && <ThrownLine error={line.error} />}
    </>
  );
}

/** The error that was thrown, and the place. */
function ThrownLine({ error }: { readonly error: LoggedError }): VNode {
  return (
    <span class="mono thrown-line">
      <strong>{cleanLine(error.title, 300)}</strong>
      {error.own !== undefined && <span>at {cleanLine(error.own, 300)}</span>}
    </span>
  );
}

/** An error with its whole stack: the program's own line is on top. */
export function ThrownError({ error }: { readonly error: LoggedError }): VNode {
  return (
    <div class="thrown">
      <ThrownLine error={error} />
      <CodeBlock text={error.stack} label="Stack" />
    </div>
  );
}
