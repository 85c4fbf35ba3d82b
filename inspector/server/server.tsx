import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The facts about the server. */
export function ServerPlace(): VNode {
  return <Empty title="Nothing yet." />;
}
