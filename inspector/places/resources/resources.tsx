import './resources.css';
import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { Icon } from '../../parts/icon.js';
import { List, type ListItem, type Mark } from '../../parts/list/list.js';
import { ListPlace, RowText } from '../../parts/list/list-place.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, route } from '../../state/route.js';
import { catalog, connection } from '../../state/store.js';
import { type Listed, listedOf } from './listed.js';
import { OpenByUri } from './open-by-uri.js';
import { ResourceView } from './resource-view.js';
import { TemplateView } from './template-view.js';

/** The resources and templates of the server, and the one that is open. */
export function Resources(): VNode | null {
  const server = connection.value;
  if (server === undefined) return null;
  const lists = catalog.value;
  const resources = (lists?.resources ?? []).map(listedOf).filter((each) => each !== undefined);
  const templates = (lists?.templates ?? []).map(listedOf).filter((each) => each !== undefined);
  const all = [...resources, ...templates];
  const { name } = route.value;
  const open = name ?? (isNarrow.value ? undefined : all[0]?.uri);
  const template = templates.find(({ uri }) => uri === open);
  const failures = (lists?.failures ?? []).filter(({ list }) => list === 'resources' || list === 'templates');
  return (
    <ListPlace
      title="Resources"
      list={
        <List
          items={[...rows(resources, 'Resources', server), ...rows(templates, 'Templates', server)]}
          label="Resources"
          noun="resource"
          marks={MARKS}
          selected={open}
        >
          {failures.map(({ list, message }) => (
            <p key={list} class="resources-failure">
              {list}: {cleanLine(message, 300)}
            </p>
          ))}
          <OpenByUri />
        </List>
      }
    >
      {open === undefined ? (
        isNarrow.value ? undefined : (
          <Nothing server={server} isListed={lists !== undefined} />
        )
      ) : template !== undefined ? (
        <TemplateView key={`${server.id} ${open}`} connection={server} template={template} />
      ) : (
        <ResourceView
          key={`${server.id} ${open}`}
          connection={server}
          uri={open}
          listed={resources.find(({ uri }) => uri === open)}
        />
      )}
    </ListPlace>
  );
}

const MARKS: readonly Mark[] = [{ id: 'subscribed', label: 'subscribed', icon: 'bell' }];

function rows(
  items: readonly Listed[],
  heading: string,
  { subscriptions }: ConnectionView,
): readonly ListItem[] {
  return items.map((item) => {
    const watched = subscriptions.find(({ uri }) => uri === item.uri);
    return {
      id: item.uri,
      name: item.title,
      path: item.uri,
      text: `${item.uri} ${item.name} ${item.description ?? ''}`,
      href: addressOf('resources', item.uri),
      heading,
      marks: watched === undefined ? [] : ['subscribed'],
      content: () => (
        <RowText
          name={item.title}
          isCode={false}
          aside={
            watched === undefined ? (
              shortType(item.mimeType)
            ) : (
              <>
                <Icon name="bell" size={12} label="subscribed" /> {watched.updates > 0 && watched.updates}
              </>
            )
          }
          note={cleanLine(item.uri, 200)}
        />
      ),
    };
  });
}

/** As in `markdown` for `text/markdown`. */
function shortType(mimeType: string | undefined): string | undefined {
  if (mimeType === undefined) return undefined;
  const [, subtype = mimeType] = mimeType.split('/', 2);
  return cleanLine(subtype.split(';', 1)[0] ?? subtype, 16);
}

function Nothing({
  server,
  isListed,
}: {
  readonly server: ConnectionView;
  readonly isListed: boolean;
}): VNode {
  const name = cleanLine(server.name, 60);
  if (server.server !== undefined && !('resources' in server.server.capabilities))
    return (
      <Empty isPlace title="This server does not offer resources.">
        It does not declare the capability “resources”.
      </Empty>
    );
  if (!isListed) return <Empty isPlace title="The resources are not listed yet." />;
  return (
    <Empty isPlace title={`${name} lists no resources.`}>
      It may still have some that are not listed: open one by its URI.
    </Empty>
  );
}
