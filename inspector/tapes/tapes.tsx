import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The tapes: recordings that were imported. */
export function Tapes(): VNode {
  return <Empty title="Nothing yet." />;
}
