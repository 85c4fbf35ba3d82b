import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { LogLine } from '../../../../src/inspector/contract/message.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Button } from '../../../parts/controls/button.js';
import { clock } from '../../../parts/values/format.js';
import { LINE_HEIGHT, windowOf } from './log-rows.js';

const SEVERE: ReadonlySet<string> = new Set(['error', 'critical', 'alert', 'emergency']);

/** The lines, of which only those on the screen exist. It follows the end until somebody scrolls up. */
export function LogList({
  lines,
  chosen,
  onChoose,
}: {
  readonly lines: readonly LogLine[];
  readonly chosen: number | undefined;
  readonly onChoose: (seq: number) => void;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const scrollTop = useSignal(0);
  const height = useSignal(400);
  const follows = useSignal(true);
  const active = useSignal(-1);
  const [from, to] = windowOf(lines.length, scrollTop.value, height.value);

  useEffect(() => {
    if (box.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) height.value = entry.contentRect.height;
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follows.value && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, height.value, follows.value]);

  function onScroll(): void {
    if (box.current === null) return;
    scrollTop.value = box.current.scrollTop;
    follows.value =
      box.current.scrollTop + box.current.clientHeight >= box.current.scrollHeight - LINE_HEIGHT;
  }

  function onKeyDown(event: KeyboardEvent): void {
    const at = active.value < 0 ? lines.length : active.value;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: lines.length - 1,
      PageDown: at + 10,
      PageUp: at - 10,
    };
    const line = lines[active.value];
    if (event.key === 'Enter' && line !== undefined) {
      event.preventDefault();
      onChoose(line.seq);
    }
    const next = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (next === undefined || box.current === null) return;
    event.preventDefault();
    active.value = Math.max(0, Math.min(lines.length - 1, next));
    const top = active.value * LINE_HEIGHT;
    if (top < box.current.scrollTop) box.current.scrollTop = top;
    else if (top + LINE_HEIGHT > box.current.scrollTop + box.current.clientHeight)
      box.current.scrollTop = top + LINE_HEIGHT - box.current.clientHeight;
  }

  return (
    <div class="logs-list">
      <div
        ref={box}
        class="logs-box"
        role="listbox"
        tabIndex={0}
        aria-label="Lines of the log"
        aria-activedescendant={
          active.value >= from && active.value < to ? `${id}-${active.value}` : undefined
        }
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: `${lines.length * LINE_HEIGHT}px` }} role="presentation">
          <div style={{ transform: `translateY(${from * LINE_HEIGHT}px)` }} role="presentation">
            {lines.slice(from, to).map((line, at) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys.
              // biome-ignore lint/a11y/useFocusableInteractive: the list keeps the focus, and names the active line.
              <div
                key={line.seq}
                id={`${id}-${from + at}`}
                class={rowClass(line, from + at === active.value)}
                role="option"
                aria-selected={line.seq === chosen}
                aria-posinset={from + at + 1}
                aria-setsize={lines.length}
                onClick={() => {
                  active.value = from + at;
                  onChoose(line.seq);
                }}
              >
                <span class="logs-time muted">{clock(line.at, true)}</span>
                <span class="logs-source">{line.level ?? line.source}</span>
                {line.logger !== undefined && <span class="muted">{cleanLine(line.logger, 40)}</span>}
                <span class="logs-text">{cleanLine(line.text, 400)}</span>
              </div>
            ))}
          </div>
        </div>
      </div>
      {!follows.value && (
        <Button
          class="logs-follow"
          icon="down"
          onClick={() => {
            follows.value = true;
          }}
        >
          Follow
        </Button>
      )}
    </div>
  );
}

function rowClass({ source, level }: LogLine, isActive: boolean): string {
  const tone =
    source === 'problem' || level === 'warning'
      ? ' is-problem'
      : level !== undefined && SEVERE.has(level)
        ? ' is-error'
        : '';
  return `logs-row mono${tone}${isActive ? ' is-active' : ''}`;
}
