import type { VNode } from 'preact';
import { List } from '../parts/list.js';
import { addressOf, route } from '../state/route.js';
import { catalog } from '../state/store.js';

/** The tools of the server: list, form and result. */
export function Tools(): VNode {
  const items = (catalog.value?.tools ?? []).map(({ tool }) => ({
    id: tool.name,
    name: tool.name,
    text: String(tool['description'] ?? ''),
    href: addressOf('tools', tool.name),
    content: tool.name,
  }));
  return <List items={items} label="Tools" noun="tool" selected={route.value.name} />;
}
