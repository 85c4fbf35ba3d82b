import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The prompts of the server. */
export function Prompts(): VNode {
  return <Empty title="Nothing yet." />;
}
