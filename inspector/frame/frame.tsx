import type { VNode } from 'preact';
import { connection, live } from '../state/store.js';

/** The page: the bar at the top, the place that is shown, and the timeline beside it. */
export function Frame(): VNode {
  return (
    <header class="shell-bar">
      <strong>{connection.value?.name ?? 'fullmcp'}</strong>
      <span class="label muted">{live.value}</span>
    </header>
  );
}
