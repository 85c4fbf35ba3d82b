import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The resources and templates of the server. */
export function Resources(): VNode {
  return <Empty title="Nothing yet." />;
}
