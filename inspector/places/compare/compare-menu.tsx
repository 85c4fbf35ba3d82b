import { batch } from '@preact/signals';
import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon } from '../../parts/icon.js';
import { Menu, type MenuItem } from '../../parts/popup/menu.js';
import { stateWord } from '../../parts/state-mark.js';
import { moment } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { markedRun } from '../../state/shown-run.js';
import { connections, mayConnect, stories } from '../../state/store.js';
import { toast } from '../../state/toast.js';

const SHOWN_RUNS = 6;

/** The menu of a run: compares it with the one that was marked, with other runs of the same tool, and with the same call elsewhere. */
export function CompareMenu({ story }: { readonly story: Story }): VNode {
  const groups = [withMarked(story), withRuns(story), elsewhere(story), [mark(story)]];
  const items = groups.flatMap((group) => group.map((item, at) => ({ ...item, hasLine: at === 0 })));
  return (
    <Menu label="Compare" items={items.map((item, at) => (at === 0 ? { ...item, hasLine: false } : item))}>
      <Icon name="compare" label="Compare" />
    </Menu>
  );
}

function withMarked(story: Story): readonly MenuItem[] {
  const marked = markedRun.value === undefined ? undefined : stories.value.get(markedRun.value);
  if (marked === undefined || marked.id === story.id) return [];
  return [pair(marked, story, `With the marked run ${cleanLine(marked.title, 40)} #${marked.run}`)];
}

function withRuns(story: Story): readonly MenuItem[] {
  return [...stories.value.values()]
    .filter(
      ({ id, title, method, connection, endedAt }) =>
        id !== story.id &&
        endedAt !== undefined &&
        title === story.title &&
        method === story.method &&
        connection === story.connection,
    )
    .slice(-SHOWN_RUNS)
    .reverse()
    .map((other) => {
      const [one, two] = other.id < story.id ? [other, story] : [story, other];
      return pair(one, two, `With run #${other.run}, ${moment(other.at)}, ${stateWord(other.state)}`);
    });
}

function pair(before: Story, after: Story, content: string): MenuItem {
  return {
    id: `run ${before.id} ${after.id}`,
    content,
    onPick: () => go('compare', `${before.id}..${after.id}`),
  };
}

/** The same call on another server that is connected, or in another revision. */
function elsewhere(story: Story): readonly MenuItem[] {
  const own = connections.value.get(story.connection);
  if (own === undefined || story.earlier?.lacks.some((lack) => lack !== 'result')) return [];
  const servers = [...connections.value.values()]
    .filter(({ id, status }) => id !== own.id && status === 'ready')
    .map(({ id, name, revision }) =>
      again(story, { connection: id }, `Run again on ${cleanLine(name, 40)} ${revision}, and compare`),
    );
  // A server in the same process speaks the newest revision only.
  const canChange = mayConnect.value && !own.isFixed && own.transport !== 'in-process';
  const revisions = own.revisions
    .filter((revision) => canChange && revision !== own.revision)
    .map((revision) => again(story, { revision }, `Run again in ${revision}, and compare`));
  return [...servers, ...revisions];
}

function again(
  story: Story,
  place: { readonly connection?: string; readonly revision?: string },
  content: string,
): MenuItem {
  return {
    id: content,
    content,
    onPick: () => {
      if (place.revision !== undefined) toast(`Connecting in ${place.revision} …`);
      run('again', { story: story.id, ...place }).then(
        ({ story: id }) => go('compare', `${story.id}..${id}`),
        (error: unknown) => toast(error instanceof Error ? error.message : String(error)),
      );
    },
  };
}

function mark({ id, title, run: number }: Story): MenuItem {
  const name = `${cleanLine(title, 40)} #${number}`;
  const isMarked = markedRun.value === id;
  return {
    id: 'mark',
    content: isMarked ? 'Remove the mark' : 'Mark, to compare another run with it',
    onPick: () =>
      batch(() => {
        markedRun.value = isMarked ? undefined : id;
        toast(
          isMarked ? `${name} is not marked any more` : `${name} is marked: choose Compare at another run`,
        );
      }),
  };
}
