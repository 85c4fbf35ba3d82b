import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';

const STEP = 16;

/** The line between two parts, which can be moved with the mouse and with the arrow keys. */
export function Splitter({
  size,
  min,
  max,
  label,
  axis = 'x',
  isReversed = false,
}: {
  /** The width or height of the part beside it, in pixels. */
  readonly size: Signal<number>;
  readonly min: number;
  readonly max: number;
  readonly label: string;
  readonly axis?: 'x' | 'y';
  /** The part is to the right of the line, or below it. */
  readonly isReversed?: boolean;
}): VNode {
  const drag = useRef<{ from: number; size: number } | undefined>(undefined);
  const sign = isReversed ? -1 : 1;
  const set = (next: number) => {
    size.value = Math.round(Math.min(max, Math.max(min, next)));
  };
  const at = (event: PointerEvent) => (axis === 'x' ? event.clientX : event.clientY);
  const [less, more] = axis === 'x' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
  return (
    <div
      class={`splitter ${axis}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={size.value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => {
        drag.current = { from: at(event), size: size.value };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (drag.current) set(drag.current.size + sign * (at(event) - drag.current.from));
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onPointerCancel={() => {
        drag.current = undefined;
      }}
      onKeyDown={(event) => {
        if (event.key !== less && event.key !== more) return;
        event.preventDefault();
        set(size.value + sign * (event.key === more ? STEP : -STEP));
      }}
    />
  );
}
