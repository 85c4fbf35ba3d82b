import type { VNode } from 'preact';
import type { CatalogView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { counted } from '../../parts/values/format.js';
import { addressOf } from '../../state/route.js';

const MAX_ROWS = 500;

/** How much of a model's context each tool takes. */
export function Tokens({ catalog }: { readonly catalog: CatalogView | undefined }): VNode {
  if (catalog === undefined) return <Empty title="The tools are not listed yet." />;
  if (catalog.tools.length === 0) return <Empty title="This server has no tools." />;
  const tools = [...catalog.tools].sort((one, other) => other.tokens - one.tokens);
  const most = Math.max(1, tools[0]?.tokens ?? 1);
  const total = Math.max(1, catalog.tokens);
  return (
    <div class="server-tokens">
      <p>
        {counted(tools.length, 'tool takes', 'tools take')} about{' '}
        <strong>{number(catalog.tokens)} tokens</strong> of a model’s context, in each conversation.
      </p>
      <table class="server-table">
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col" class="server-bar-cell">
              <span class="visually-hidden">Compared to the largest</span>
            </th>
            <th scope="col" class="is-number">
              Tokens
            </th>
            <th scope="col" class="is-number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {tools.slice(0, MAX_ROWS).map(({ tool, tokens }) => (
            <tr key={tool.name}>
              <th scope="row" class="mono">
                <a href={addressOf('tools', tool.name)}>{cleanLine(tool.name, 80)}</a>
              </th>
              <td class="server-bar-cell" aria-hidden="true">
                <span class="server-bar" style={{ width: `${(tokens / most) * 100}%` }} />
              </td>
              <td class="is-number">{number(tokens)}</td>
              <td class="is-number muted">{Math.round((tokens / total) * 100)} %</td>
            </tr>
          ))}
        </tbody>
      </table>
      {tools.length > MAX_ROWS && (
        <p class="muted">{counted(tools.length - MAX_ROWS, 'smaller tool')} not shown.</p>
      )}
      <p class="label muted">
        An estimate of four characters for each token; models count a little differently.
      </p>
    </div>
  );
}

function number(count: number): string {
  return count.toLocaleString('en');
}
