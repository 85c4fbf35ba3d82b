import './events.css';
import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { List } from '../../parts/list/list.js';
import { ListPlace, RowText } from '../../parts/list/list-place.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, route } from '../../state/route.js';
import { catalog, connection } from '../../state/store.js';
import { EventPage } from './event-page.js';
import { listedEventType } from './listed-event.js';

/** The types of events that the server tells, and the one that is open. */
export function Events(): VNode | null {
  const server = connection.value;
  if (server === undefined) return null;
  const lists = catalog.value;
  const types = (lists?.events ?? []).map(listedEventType);
  const { name } = route.value;
  const open = name ?? (isNarrow.value ? undefined : types[0]?.name);
  const type = types.find((each) => each.name === open);
  const failure = lists?.failures.find(({ list }) => list === 'events');
  const items = types.map((each) => ({
    id: each.name,
    name: each.name,
    text: each.description,
    href: addressOf('events', each.name),
    content: (prefix: number) => (
      <RowText
        name={each.name}
        prefix={prefix}
        aside={server.follows.some((follow) => follow.name === each.name) ? 'followed' : undefined}
        note={cleanLine(each.description, 200)}
      />
    ),
  }));
  return (
    <ListPlace
      title="Events"
      list={
        <List items={items} label="Events" noun="type" selected={open}>
          {failure !== undefined && <p class="events-failure">{cleanLine(failure.message, 300)}</p>}
        </List>
      }
    >
      {type !== undefined ? (
        <EventPage key={`${server.id} ${type.name}`} connection={server} type={type} />
      ) : isNarrow.value && open === undefined ? undefined : (
        <Empty isPlace title={nothing(open, lists !== undefined)}>
          {lists !== undefined && open === undefined && 'A caller sees the types that it may subscribe to.'}
        </Empty>
      )}
    </ListPlace>
  );
}

function nothing(open: string | undefined, isListed: boolean): string {
  if (!isListed) return 'The events are not listed yet.';
  return open === undefined
    ? 'The server lists no events.'
    : `There is no type of events “${cleanLine(open, 80)}”.`;
}
