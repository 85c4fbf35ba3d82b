import './tools.css';
import type { VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { CatalogView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Splitter } from '../../parts/controls/split.js';
import { Empty } from '../../parts/empty.js';
import { List } from '../../parts/list/list.js';
import { counted } from '../../parts/values/format.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, go, route } from '../../state/route.js';
import { listWidth } from '../../state/settings.js';
import { catalog, connection, firstTool } from '../../state/store.js';
import { ToolPage } from './tool-page.js';
import { callFacts, TOOL_MARKS, toolItems } from './tool-row.js';

/** The tools of the server: list, form and result. */
export function Tools(): VNode | null {
  const view = connection.value;
  const lists = catalog.value;
  const wanted = route.value.name;
  useEffect(() => {
    // The command line said which one.
    if (wanted === undefined && firstTool.value !== undefined && lists) {
      const name = firstTool.value;
      firstTool.value = undefined;
      go('tools', name);
    }
  }, [wanted, lists]);
  if (view === undefined) return null;
  if (lists === undefined) return <Loading />;
  if (lists.tools.length === 0) return <NoTools lists={lists} name={view.name} />;
  const name = wanted ?? (isNarrow.value ? undefined : lists.tools[0]?.tool.name);
  const tool = lists.tools.find((each) => each.tool.name === name);
  const isListShown = !isNarrow.value || wanted === undefined;
  return (
    <div class="tools" style={{ '--list-width': `${listWidth.value}px` }}>
      {isListShown && (
        <div class="tools-list">
          <ToolList lists={lists} selected={name} />
        </div>
      )}
      {!isNarrow.value && <Splitter size={listWidth} min={180} max={480} label="Width of the list" />}
      {tool && <ToolPage key={`${view.id} ${tool.tool.name}`} connection={view} view={tool} />}
      {!tool && name !== undefined && (
        <Empty isPlace title={`There is no tool “${cleanLine(name, 80)}”.`}>
          <a href={addressOf('tools')}>All tools</a>
        </Empty>
      )}
    </div>
  );
}

function ToolList({
  lists,
  selected,
}: {
  readonly lists: CatalogView;
  readonly selected: string | undefined;
}): VNode {
  const facts = callFacts.value;
  const items = useMemo(() => toolItems(lists.tools, facts), [lists, facts]);
  return (
    <List
      items={items}
      label="Tools"
      noun="tool"
      selected={selected}
      marks={TOOL_MARKS}
      recent={facts.recent}
    />
  );
}

/** Nothing for 300 ms, then a bar. */
function Loading(): VNode {
  return (
    <div class="tools-loading" role="progressbar" aria-label="Listing the tools">
      <span />
    </div>
  );
}

function NoTools({ lists, name }: { readonly lists: CatalogView; readonly name: string }): VNode {
  const failure = lists.failures.find(({ list }) => list.startsWith('tools'));
  if (failure)
    return (
      <Empty isPlace title="The tools could not be listed.">
        {cleanLine(failure.message, 400)}
      </Empty>
    );
  const offers = [
    { place: 'resources', count: lists.resources.length + lists.templates.length, one: 'resource' },
    { place: 'prompts', count: lists.prompts.length, one: 'prompt' },
  ].filter(({ count }) => count > 0);
  return (
    <Empty isPlace title={`${cleanLine(name, 60)} has no tools.`}>
      {offers.length > 0 && 'It offers '}
      {offers.map(({ place, count, one }, at) => (
        <>
          {at > 0 && ' and '}
          <a key={place} href={addressOf(place)}>
            {counted(count, one)}
          </a>
        </>
      ))}
      {offers.length > 0 && '.'}
    </Empty>
  );
}
