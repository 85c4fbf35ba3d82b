import type { ComponentChildren, VNode } from 'preact';

/** Stands where there is nothing: one sentence, and what to do about it. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <div class="empty">
      <p>{title}</p>
      {children !== undefined && <div class="muted">{children}</div>}
    </div>
  );
}
