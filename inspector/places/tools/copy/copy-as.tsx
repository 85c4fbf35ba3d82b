import type { VNode } from 'preact';
import type { ConnectionView, ToolView } from '../../../../src/inspector/contract/connection.js';
import { copyText } from '../../../parts/controls/copy-button.js';
import { Menu } from '../../../parts/popup/menu.js';
import { addressOf } from '../../../state/route.js';
import { argumentsOf, type Draft, schemaOf } from '../draft.js';
import { toQuery } from '../from-query.js';
import { runsOf, shownOf } from '../run/run-tool.js';
import { clientCode, testCode } from './code.js';
import { commandLine } from './command-line.js';
import { curl } from './curl.js';

/** The call in the form, for use elsewhere. */
export function CopyAs({
  connection,
  view,
  draft,
}: {
  readonly connection: ConnectionView;
  readonly view: ToolView;
  readonly draft: Draft;
}): VNode {
  const { name } = view.tool;
  const args = argumentsOf(draft) ?? {};
  const schema = schemaOf(view.tool);
  const forms: readonly (readonly [string, () => string | undefined])[] = [
    ['Command line', () => commandLine(connection, name, { args, schema })],
    ['Client code', () => clientCode(connection, name, args)],
    ['curl', () => curl(connection, name, args)],
    ['Test', () => testCode(connection, name, shownCall(name) ?? { args })],
    ['Arguments as JSON', () => JSON.stringify(args, undefined, 2)],
    ['Link to this form', () => link(name, toQuery(args))],
  ];
  const items = forms
    .filter(([label, text]) => label !== 'curl' || text() !== undefined)
    .map(([label, text]) => ({
      id: label,
      content: label,
      onPick: () => void copyText(text() ?? '', `Copied as ${label.toLowerCase()}`),
    }));
  return (
    <Menu label="Copy this call as" items={items}>
      Copy as
    </Menu>
  );
}

/** A test expects what came back, so it is about the run that is shown. */
function shownCall(tool: string) {
  const story = shownOf(runsOf(tool));
  return story?.args && story.outcome && { args: story.args, outcome: story.outcome };
}

/** Without the token, which is a secret of this session. */
function link(tool: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return `${location.origin}${location.pathname}${addressOf('tools', tool)}${text && `?${text}`}`;
}
