import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The tasks: running, waiting for the user, ended. */
export function Tasks(): VNode {
  return <Empty title="Nothing yet." />;
}
