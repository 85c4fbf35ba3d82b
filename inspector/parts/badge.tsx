import type { ComponentChildren, VNode } from 'preact';

export type Tone = 'plain' | 'ok' | 'warn' | 'err' | 'ask';

/** A short mark with a word. Colour is never the only difference. */
export function Badge({
  tone = 'plain',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <span class={tone === 'plain' ? 'badge' : `badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
