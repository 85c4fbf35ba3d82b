import type { VNode } from 'preact';
import type { ConnectionView, ToolView } from '../../../../src/inspector/contract/connection.js';
import { copyText } from '../../../parts/controls/copy-button.js';
import { Menu } from '../../../parts/popup/menu.js';
import { addressOf } from '../../../state/route.js';
import { argumentsOf, type Draft, schemaOf } from '../draft.js';
import { toQuery } from '../from-query.js';
import { runsOf, shownOf } from '../run/run-tool.js';
import { clientCode, promptCode, testCode } from './code.js';
import { commandLine, promptLine } from './command-line.js';
import { curl, promptCurl } from './curl.js';

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
  const forms: readonly Form[] = [
    ['Command line', () => commandLine(connection, name, { args, schema })],
    ['Client code', () => clientCode(connection, name, args)],
    ['curl', () => curl(connection, name, args)],
    ['Test', () => testCode(connection, name, shownCall(name) ?? { args })],
    ['Arguments as JSON', () => JSON.stringify(args, undefined, 2)],
    ['Link to this form', () => link('tools', name, toQuery(args))],
  ];
  return <CopyMenu label="Copy this call as" forms={forms} />;
}

/** The arguments of a prompt, for use elsewhere. */
export function CopyPromptAs({
  connection,
  name,
  args,
}: {
  readonly connection: ConnectionView;
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}): VNode {
  return (
    <CopyMenu
      label="Copy this prompt as"
      forms={[
        ['Command line', () => promptLine(connection, name, args)],
        ['Client code', () => promptCode(connection, name, args)],
        ['curl', () => promptCurl(connection, name, args)],
        ['Arguments as JSON', () => JSON.stringify(args, undefined, 2)],
        ['Link to this form', () => link('prompts', name, args)],
      ]}
    />
  );
}

/** A name, and the text; undefined if there is none for this server. */
type Form = readonly [label: string, text: () => string | undefined];

function CopyMenu({ label, forms }: { readonly label: string; readonly forms: readonly Form[] }): VNode {
  const items = forms
    .filter(([name, text]) => name !== 'curl' || text() !== undefined)
    .map(([name, text]) => ({
      id: name,
      content: name,
      onPick: () => void copyText(text() ?? '', `Copied as ${name.toLowerCase()}`),
    }));
  return (
    <Menu label={label} items={items}>
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
function link(place: string, name: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return `${location.origin}${location.pathname}${addressOf(place, name)}${text && `?${text}`}`;
}
