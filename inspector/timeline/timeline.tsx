import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The timeline: the stories of this connection as two lanes. */
export function Timeline(): VNode {
  return <Empty title="Nothing yet." />;
}
