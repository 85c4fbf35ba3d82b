import type { VNode } from 'preact';
import type { ToolView } from '../../../src/inspector/contract/connection.js';

/** The app of a tool, in the sandbox. */
export function AppView({ tool }: { readonly story: number; readonly tool: ToolView }): VNode {
  return <p class="muted">The app of {tool.tool.name}.</p>;
}
