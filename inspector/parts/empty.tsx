import type { ComponentChildren, VNode } from 'preact';

/** Stands where there is nothing: one sentence, and what to do about it. */
export function Empty({
  title,
  isPlace = false,
  children,
}: {
  readonly title: string;
  /** Stands in for a whole place: its sentence is the heading of the page. */
  readonly isPlace?: boolean;
  readonly children?: ComponentChildren;
}): VNode {
  const Title = isPlace ? 'h1' : 'p';
  return (
    <div class="empty">
      <Title>{title}</Title>
      {children !== undefined && <div class="muted">{children}</div>}
    </div>
  );
}
