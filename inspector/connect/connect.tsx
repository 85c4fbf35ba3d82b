import type { VNode } from 'preact';
import { Empty } from '../parts/empty.js';

/** The place to connect to a server. */
export function Connect(): VNode {
  return <Empty title="Connect to a server." />;
}
