import './server.css';
import type { VNode } from 'preact';
import { List } from '../../parts/list/list.js';
import { ListPlace, RowText } from '../../parts/list/list-place.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, route } from '../../state/route.js';
import { catalog, connection, logs, ownStories } from '../../state/store.js';
import { Overview } from './about/overview.js';
import { Auth } from './auth/auth.js';
import { Findings } from './findings.js';
import { LatencyView } from './latency-view.js';
import { LogView } from './logs/log-view.js';
import { isSection, SECTIONS, type SectionFacts, type SectionName, summaryOf, TITLES } from './sections.js';
import { Settings } from './settings/settings.js';
import { Tokens } from './tokens.js';

/** The place "Server": its sections, and the one that is open. */
export function ServerPlace(): VNode | null {
  const server = connection.value;
  if (server === undefined) return null;
  const { name } = route.value;
  // On a phone the list of sections is a page of its own.
  const open = isSection(name) ? name : isNarrow.value ? undefined : 'overview';
  const facts: SectionFacts = {
    connection: server,
    catalog: catalog.value,
    logs: logs.value.filter((line) => line.connection === server.id),
    stories: ownStories.value,
    now: Date.now(),
  };
  const items = SECTIONS.map((section) => {
    const summary = summaryOf(section, facts);
    return {
      id: section,
      name: TITLES[section],
      text: summary,
      href: addressOf('server', section),
      content: () => <RowText name={TITLES[section]} note={summary} isCode={false} />,
    };
  });
  return (
    <ListPlace title="Server" list={<List items={items} label="Sections" noun="section" selected={open} />}>
      {open !== undefined && (
        <div class={open === 'logs' ? 'server is-full' : 'server'}>
          <h1>{TITLES[open]}</h1>
          <Section name={open} facts={facts} />
        </div>
      )}
    </ListPlace>
  );
}

function Section({ name, facts }: { readonly name: SectionName; readonly facts: SectionFacts }): VNode {
  const { connection: server, catalog: lists } = facts;
  switch (name) {
    case 'overview':
      return <Overview connection={server} />;
    case 'auth':
      return <Auth connection={server} />;
    case 'logs':
      return <LogView connection={server} lines={facts.logs} />;
    case 'latency':
      return <LatencyView stories={facts.stories} />;
    case 'tokens':
      return <Tokens catalog={lists} />;
    case 'findings':
      return <Findings catalog={lists} />;
    case 'settings':
      return <Settings connection={server} />;
  }
}
