import './prompts.css';
import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { List } from '../../parts/list/list.js';
import { ListPlace, RowText } from '../../parts/list/list-place.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, route } from '../../state/route.js';
import { catalog, connection } from '../../state/store.js';
import { type ListedPrompt, listedPrompt } from './listed-prompt.js';
import { PromptView } from './prompt-view.js';

/** The prompts of the server, and the one that is open. */
export function Prompts(): VNode | null {
  const server = connection.value;
  if (server === undefined) return null;
  const lists = catalog.value;
  const prompts = (lists?.prompts ?? []).map(listedPrompt).filter((each) => each !== undefined);
  const { name } = route.value;
  const open = name ?? (isNarrow.value ? undefined : prompts[0]?.name);
  const prompt = prompts.find((each) => each.name === open);
  const failure = lists?.failures.find(({ list }) => list === 'prompts');
  const items = prompts.map((each) => ({
    id: each.name,
    name: each.name,
    text: `${each.title} ${each.description ?? ''}`,
    href: addressOf('prompts', each.name),
    content: (prefix: number) => (
      <RowText
        name={each.name}
        prefix={prefix}
        aside={argumentNames(each)}
        note={cleanLine(each.description ?? each.title, 200)}
      />
    ),
  }));
  return (
    <ListPlace
      title="Prompts"
      list={
        <List items={items} label="Prompts" noun="prompt" selected={open}>
          {failure !== undefined && <p class="prompts-failure">{cleanLine(failure.message, 300)}</p>}
        </List>
      }
    >
      {prompt !== undefined ? (
        <PromptView key={`${server.id} ${prompt.name}`} connection={server} prompt={prompt} />
      ) : isNarrow.value && open === undefined ? undefined : (
        <Nothing server={server} isListed={lists !== undefined} open={open} />
      )}
    </ListPlace>
  );
}

/** As in `topic, length?`. */
function argumentNames({ args }: ListedPrompt): string {
  const names = args
    .slice(0, 3)
    .map(({ name, isRequired }) => `${cleanLine(name, 20)}${isRequired ? '' : '?'}`);
  return args.length > 3 ? `${names.join(', ')}, …` : names.join(', ');
}

function Nothing({
  server,
  isListed,
  open,
}: {
  readonly server: ConnectionView;
  readonly isListed: boolean;
  readonly open: string | undefined;
}): VNode {
  if (server.server !== undefined && !('prompts' in server.server.capabilities))
    return (
      <Empty isPlace title="This server does not offer prompts.">
        It does not declare the capability “prompts”.
      </Empty>
    );
  if (!isListed) return <Empty isPlace title="The prompts are not listed yet." />;
  if (open !== undefined) return <Empty isPlace title={`There is no prompt “${cleanLine(open, 80)}”.`} />;
  return <Empty isPlace title={`${cleanLine(server.name, 60)} lists no prompts.`} />;
}
