import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { Button } from './button.js';

/** Shows a result as the server sent it, or as it is meant. */
export function RawSwitch({
  isRaw,
  class: extra = '',
}: {
  readonly isRaw: Signal<boolean>;
  readonly class?: string;
}): VNode {
  return (
    <Button
      look="quiet"
      class={extra}
      icon="braces"
      isPressed={isRaw.value}
      onClick={() => {
        isRaw.value = !isRaw.value;
      }}
    >
      Raw
    </Button>
  );
}
