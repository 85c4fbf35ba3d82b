import '../../timeline/timeline.css';
import '../../timeline/story/story.css';
import './tasks.css';
import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { List, type ListItem } from '../../parts/list/list.js';
import { ListPlace } from '../../parts/list/list-place.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, route } from '../../state/route.js';
import { ownStories } from '../../state/store.js';
import { progressWords } from '../../timeline/model/lanes.js';
import { stateOf } from '../../timeline/model/words.js';
import { StateWord } from '../../timeline/state-mark.js';
import { FollowTasks } from './follow-tasks.js';
import { TaskDetail } from './task-detail.js';
import { type TaskStory, taskGroups } from './task-groups.js';

/** The tasks of a server: waiting for the user, running, ended. */
export function Tasks(): VNode {
  const groups = taskGroups(ownStories.value);
  const all = groups.flatMap(({ tasks }) => tasks);
  const id = route.value.name;
  const open = id ?? (isNarrow.value ? undefined : all[0]?.task.id);
  const shown = all.find(({ task }) => task.id === open);
  const items: readonly ListItem[] = groups.flatMap(({ name, tasks }) =>
    tasks.map((story) => itemOf(story, name)),
  );
  return (
    <ListPlace
      title="Tasks"
      list={
        <List items={items} label="Tasks" noun="task" selected={open}>
          {isNarrow.value && all.length === 0 && <Nothing />}
          <FollowTasks followed={all.map(({ task }) => task.id)} />
        </List>
      }
    >
      {shown ? (
        <TaskDetail key={shown.id} story={shown} />
      ) : id !== undefined ? (
        <Empty isPlace title={`The task ${cleanLine(id, 60)} is not followed.`}>
          Follow it by its id: the server may still know it.
        </Empty>
      ) : (
        !isNarrow.value && <Nothing />
      )}
    </ListPlace>
  );
}

/** On a phone it stands in the list, which has a heading of its own. */
function Nothing(): VNode {
  return (
    <Empty isPlace={!isNarrow.value} title="No task was started yet.">
      A tool that runs as a task appears here, and continues when this page is closed.
    </Empty>
  );
}

function itemOf(story: TaskStory, heading: string): ListItem {
  return {
    id: story.task.id,
    name: story.title,
    text: `${story.task.id} ${story.task.statusMessage ?? ''}`,
    href: addressOf('task', story.task.id),
    heading,
    content: () => (
      <>
        <span class="tasks-row">
          <span class="mono tasks-name">{cleanLine(story.title, 80)}</span>
          <StateWord {...stateOf(story)} />
        </span>
        <span class="tasks-row muted">
          <span class="tasks-words">
            {progressWords(story) || cleanLine(story.task.statusMessage ?? '', 80)}
          </span>
          <span class="mono label">{cleanLine(story.task.id, 9)}</span>
        </span>
      </>
    ),
  };
}
