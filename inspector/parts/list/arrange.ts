// How the items of a list are arranged: recent ones on top, groups by the prefix of their names in long lists, and the rows that follow from it.

import type { ComponentChildren } from 'preact';

/** A list that is longer than this is searched rather than walked through, and has groups. */
export const LONG = 50;

export interface ListItem {
  readonly id: string;
  /** The name, for close ones, for groups and for the order of the matches. */
  readonly name: string;
  /** The words that the filter searches besides the name. */
  readonly text: string;
  readonly href: string;
  /** Draws the item. Its name begins with as many characters of its group. */
  readonly content: (prefix: number) => ComponentChildren;
  /** The name that groups are made of, if it is not `name`. */
  readonly path?: string;
  /** The heading above this item and its neighbours that have the same one. */
  readonly heading?: string | undefined;
  /** The ids of its marks. */
  readonly marks?: readonly string[];
}

export interface Section {
  /** Unique in the list. */
  readonly key: string;
  /** The heading; undefined if there is none. */
  readonly label: string | undefined;
  readonly items: readonly ListItem[];
  /** The number of characters that all names begin with. */
  readonly prefix: number;
  readonly isOpenAtFirst: boolean;
}

interface Row {
  readonly key: string;
  /** 1 for headings of groups and for items outside of them, 2 for items in a group. */
  readonly level: 1 | 2;
  /** The place among its siblings, from 1, and their number. */
  readonly place: number;
  readonly size: number;
}

export interface GroupRow extends Row {
  readonly group: Section;
  readonly isOpen: boolean;
}

interface ItemRow extends Row {
  readonly group?: undefined;
  readonly item: ListItem;
  readonly prefix: number;
  /** The row of its group; undefined if it is in none. */
  readonly parent: number | undefined;
}

export type ListRow = GroupRow | ItemRow;

/** The sections of a list. One section alone has no heading, unless its items have one. */
export function sectionsOf(items: readonly ListItem[], recent: readonly string[]): readonly Section[] {
  const sections: Section[] = [];
  const onTop = items.length > LONG ? recentOf(items, recent) : [];
  if (onTop.length > 0)
    sections.push({ key: 'recent', label: 'Recent', items: onTop, prefix: 0, isOpenAtFirst: true });
  for (const run of runsOf(items)) {
    const heading = run[0]?.heading;
    const groups = run.length > LONG ? groupsOf(run) : undefined;
    for (const group of groups?.groups ?? [])
      sections.push({
        key: `${heading ?? ''} ${group.prefix}`,
        label: group.prefix,
        items: group.items,
        prefix: group.prefix.length,
        isOpenAtFirst: false,
      });
    const rest = groups?.rest ?? run;
    if (rest.length > 0)
      sections.push({
        key: `rest ${heading ?? ''}`,
        label: heading ?? (groups === undefined ? 'All' : 'Other'),
        items: rest,
        prefix: 0,
        isOpenAtFirst: true,
      });
  }
  const isAlone = sections.length === 1 && items[0]?.heading === undefined;
  return isAlone ? [plain(items)] : sections;
}

/** Items in their order, without a heading. */
export function plain(items: readonly ListItem[]): Section {
  return { key: '', label: undefined, items, prefix: 0, isOpenAtFirst: true };
}

/** The rows that are shown: headings, and the items of groups that are open. */
export function rowsOf(
  sections: readonly Section[],
  isOpen: (section: Section) => boolean,
): readonly ListRow[] {
  const rows: ListRow[] = [];
  const seen = new Map<string, number>();
  for (const [at, section] of sections.entries()) {
    let parent: number | undefined;
    if (section.label !== undefined) {
      const isShown = isOpen(section);
      parent = rows.length;
      rows.push({
        key: section.key,
        level: 1,
        place: at + 1,
        size: sections.length,
        group: section,
        isOpen: isShown,
      });
      if (!isShown) continue;
    }
    for (const [index, item] of section.items.entries()) {
      // A server may list the same name twice.
      const name = `${section.key} ${item.id}`;
      const times = seen.get(name) ?? 0;
      seen.set(name, times + 1);
      rows.push({
        key: `${times} ${name}`,
        level: parent === undefined ? 1 : 2,
        place: index + 1,
        size: section.items.length,
        item,
        prefix: section.prefix,
        parent,
      });
    }
  }
  return rows;
}

function recentOf(items: readonly ListItem[], recent: readonly string[]): readonly ListItem[] {
  if (recent.length === 0) return [];
  const byId = new Map<string, ListItem>();
  for (const item of items) if (recent.includes(item.id) && !byId.has(item.id)) byId.set(item.id, item);
  return recent.map((id) => byId.get(id)).filter((item) => item !== undefined);
}

/** Neighbours with the same heading. */
function runsOf(items: readonly ListItem[]): readonly (readonly ListItem[])[] {
  const runs: ListItem[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run !== undefined && run[0]?.heading === item.heading) run.push(item);
    else runs.push([item]);
  }
  return runs;
}

const SEPARATORS: readonly number[] = Array.from('_-./:', (each) => each.charCodeAt(0));
/** A longer word is not the prefix of a group. */
const MAX_WORD = 48;
const MIN_MEMBERS = 3;

/** Items by the first words of their names that differ; undefined if most items would not be in a group, or all in the same one. */
function groupsOf(items: readonly ListItem[]):
  | {
      readonly groups: readonly { readonly prefix: string; readonly items: readonly ListItem[] }[];
      readonly rest: readonly ListItem[];
    }
  | undefined {
  const shared = sharedPrefix(items);
  const byPrefix = new Map<string, ListItem[]>();
  for (const item of items) {
    const name = pathOf(item);
    const prefix = name.slice(0, Math.max(0, wordEnd(name, shared)));
    const own = byPrefix.get(prefix);
    if (own === undefined) byPrefix.set(prefix, [item]);
    else own.push(item);
  }
  byPrefix.delete('');
  const large = [...byPrefix.values()].filter(({ length }) => length >= MIN_MEMBERS);
  const inGroups = new Set(large.flat());
  const rest = items.filter((item) => !inGroups.has(item));
  if (inGroups.size < items.length / 2 || large.length + Math.sign(rest.length) < 2) return undefined;
  const groups = large.map((own) => ({
    prefix: pathOf(own[0] as ListItem).slice(0, sharedPrefix(own)),
    items: own,
  }));
  return { groups, rest };
}

/** The number of characters of the whole words that all names begin with. */
function sharedPrefix(items: readonly ListItem[]): number {
  const [first] = items;
  if (first === undefined) return 0;
  const name = pathOf(first);
  let end = 0;
  for (let words = 0; words < 8; words++) {
    const next = wordEnd(name, end);
    const prefix = name.slice(0, next);
    if (
      next < 0 ||
      !items.every((item) => pathOf(item).startsWith(prefix) && wordEnd(pathOf(item), end) === next)
    )
      break;
    end = next;
  }
  return end;
}

/** The end of the next word of a name and the separators after it; -1 if it is the last word. */
function wordEnd(name: string, from: number): number {
  const most = Math.min(name.length, from + MAX_WORD);
  let at = from;
  while (at < most && SEPARATORS.includes(name.charCodeAt(at))) at++;
  while (at < most && !SEPARATORS.includes(name.charCodeAt(at))) at++;
  if (at >= most) return -1;
  while (at < most && SEPARATORS.includes(name.charCodeAt(at))) at++;
  return at < name.length ? at : -1;
}

function pathOf({ path, name }: ListItem): string {
  return path ?? name;
}

const lowered = new WeakMap<ListItem, { readonly name: string; readonly text: string }>();
/** A server may send names of any length; this much of one is searched. */
const MAX_SEARCHED = 500;

/** The items that contain every word: those that have it in their name first. */
export function matches(items: readonly ListItem[], filter: string): readonly ListItem[] {
  const words = filter.toLowerCase().split(' ').filter(Boolean);
  if (words.length === 0) return items;
  const inName: ListItem[] = [];
  const elsewhere: ListItem[] = [];
  for (const item of items) {
    const { name, text } = loweredOf(item);
    if (words.every((word) => name.includes(word))) inName.push(item);
    else if (words.every((word) => name.includes(word) || text.includes(word))) elsewhere.push(item);
  }
  return [...inName, ...elsewhere];
}

function loweredOf(item: ListItem): { readonly name: string; readonly text: string } {
  const known = lowered.get(item);
  if (known) return known;
  const words = { name: item.name.slice(0, MAX_SEARCHED).toLowerCase(), text: item.text.toLowerCase() };
  lowered.set(item, words);
  return words;
}
