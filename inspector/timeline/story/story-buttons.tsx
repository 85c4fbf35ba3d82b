import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import { Button } from '../../parts/controls/button.js';
import { Icon } from '../../parts/icon.js';
import { CompareMenu } from '../../places/compare/compare-menu.js';
import { shareAddress } from '../../state/api.js';
import { canEdit, canRunAgain, editStory, stopStory, togglePin } from './story-actions.js';

/** Stop, run again, edit, pin. */
export function StoryButtons({
  story,
  onAgain,
  isWide = false,
}: {
  readonly story: Story;
  readonly onAgain: () => void;
  /** There is room for the words of the first two. */
  readonly isWide?: boolean;
}): VNode {
  const isGoing = story.endedAt === undefined && story.state !== 'ok';
  const look = isWide ? 'plain' : 'quiet';
  const word = (text: string) => (isWide ? text : undefined);
  return (
    <>
      {isGoing && canRunAgain(story) && (
        <Button
          look={look}
          icon="stop"
          label="Stop"
          keys={isWide ? 'Ctrl+.' : undefined}
          onClick={() => void stopStory(story)}
        >
          {word('Stop')}
        </Button>
      )}
      {canRunAgain(story) && (
        <Button look={look} icon="again" label="Run again" keys="r" onClick={onAgain}>
          {word('Run again')}
        </Button>
      )}
      {canEdit(story) && (
        <Button
          look="quiet"
          icon="edit"
          label="Arguments into the form"
          keys="e"
          onClick={() => editStory(story)}
        />
      )}
      {story.endedAt !== undefined && (
        <a
          class="button quiet icon"
          href={shareAddress(story.id)}
          download
          title="Share: one HTML file with this call, without secrets"
        >
          <Icon name="external" label="Share" />
        </a>
      )}
      {story.endedAt !== undefined && canRunAgain(story) && <CompareMenu story={story} />}
      <Button
        look="quiet"
        icon="pin"
        label={story.isPinned ? 'Unpin' : 'Pin: kept when the timeline is cleared'}
        isPressed={story.isPinned}
        onClick={() => void togglePin(story)}
      />
    </>
  );
}
