import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ConnectionView, ToolView } from '../../../../src/inspector/contract/connection.js';
import type { Story } from '../../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Button, Keys } from '../../../parts/controls/button.js';
import { Icon } from '../../../parts/icon.js';
import { Menu } from '../../../parts/popup/menu.js';
import { StateMark } from '../../../parts/state-mark.js';
import { counted, duration, moment } from '../../../parts/values/format.js';
import { stories } from '../../../state/store.js';
import { CopyAs } from '../copy/copy-as.js';
import type { Draft } from '../draft.js';
import { isRunning, stopRun } from './run-tool.js';

const SHOWN_RUNS = 20;

/** Run, stop, copy, and the runs so far. */
export function RunBar({
  connection,
  view,
  draft,
  problems,
  runs,
  shown,
  asTask,
  onRun,
  onPick,
}: {
  readonly connection: ConnectionView;
  readonly view: ToolView;
  readonly draft: Draft;
  /** How many fields are wrong, once the user wanted to run. */
  readonly problems: number;
  readonly runs: readonly Story[];
  readonly shown: Story | undefined;
  /** Whether to run as a task, where that can be chosen. */
  readonly asTask: Signal<boolean> | undefined;
  readonly onRun: (isSure: boolean) => void;
  readonly onPick: (story: Story) => void;
}): VNode {
  const running = shown && isRunning(shown) ? shown : undefined;
  return (
    <div class="tools-run-bar">
      <Button look="main" class="tools-run" keys="Ctrl+Enter" onClick={() => onRun(false)}>
        Run <Keys of="Ctrl+Enter" />
      </Button>
      {asTask && (
        <label class="form-check">
          <input
            type="checkbox"
            checked={asTask.value}
            onChange={(event) => {
              asTask.value = event.currentTarget.checked;
            }}
          />
          as a task
        </label>
      )}
      {running && (
        <Button icon="stop" keys="Ctrl+." label="Stop the running call" onClick={() => stopRun(running)}>
          Stop
        </Button>
      )}
      {problems > 0 && (
        <span class="tools-problems">
          <span class="form-error" role="alert">
            {counted(problems, 'field needs', 'fields need')} attention.
          </span>
          <Button look="quiet" onClick={() => onRun(true)}>
            Send anyway
          </Button>
        </span>
      )}
      <span class="tools-run-rest">
        <CopyAs connection={connection} view={view} draft={draft} />
        {runs.length > 0 && (
          <Menu
            label={`Runs of ${view.tool.name}`}
            items={runs
              .slice(-SHOWN_RUNS)
              .toReversed()
              .map((story) => ({
                id: String(story.id),
                isCurrent: story.id === shown?.id,
                content: <RunItem story={story} />,
                onPick: () => onPick(story),
              }))}
          >
            {shown === undefined ? 'Earlier runs' : `#${shown.run}`}
          </Menu>
        )}
      </span>
    </div>
  );
}

function RunItem({ story }: { readonly story: Story }): VNode {
  const { run, at, state, serverMs, args, repeats, earlier } = story;
  const original = repeats === undefined ? undefined : stories.value.get(repeats);
  return (
    <>
      <span class="mono">#{run}</span>
      <StateMark state={state} />
      <span class="muted">
        {moment(at)}
        {earlier && ' · earlier visit'}
      </span>
      <span class="muted">{duration(serverMs)}</span>
      {original && <Icon name="again" size={12} label={`Repeats #${original.run}`} />}
      <span class="mono muted tools-run-args">{cleanLine(JSON.stringify(args ?? {}), 60)}</span>
    </>
  );
}
