import { describe, expect, it } from 'vitest';
import {
  type ListItem,
  matches,
  rowsOf,
  type Section,
  sectionsOf,
} from '../../../inspector/parts/list/arrange.js';
import { growth } from '../../support/growth.js';

const items = (names: readonly string[], heading?: string): readonly ListItem[] =>
  names.map((name) => ({ id: name, name, text: '', href: '', heading, content: () => undefined }));
const numbered = (count: number, name: (at: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, at) => name(at));
/** As in `github_ 30`. */
const headings = (sections: readonly Section[]): readonly string[] =>
  sections.map((section) => `${section.label} ${section.items.length}`);
const arranged = (names: readonly string[], recent: readonly string[] = []): readonly string[] =>
  headings(sectionsOf(items(names), recent));

describe('the groups of a list', () => {
  it.each(['_', '.', '/', '-', ':', '__', '://'])('are found before %s', (separator) => {
    const names = numbered(60, (at) => `${at % 2 ? 'git' : 'web'}${separator}tool${at}`);
    expect(arranged(names)).toEqual([`web${separator} 30`, `git${separator} 30`]);
  });

  it('are not made of up to 50 items', () => {
    expect(arranged(numbered(50, (at) => `${at % 2 ? 'git' : 'web'}_${at}`))).toEqual(['undefined 50']);
  });

  it('are made of the words that differ, if all names begin with the same ones', () => {
    const names = numbered(60, (at) => `acme_api_${at % 2 ? 'users' : 'orders'}_${at}`);
    expect(arranged(names)).toEqual(['acme_api_orders_ 30', 'acme_api_users_ 30']);
  });

  it('have all words that their names share', () => {
    const names = numbered(60, (at) => (at % 2 ? `google-drive_${at}` : `slack_${at}`));
    expect(arranged(names)).toEqual(['slack_ 30', 'google-drive_ 30']);
  });

  it('leave names that no three others are like in a group of their own', () => {
    const names = [...numbered(60, (at) => `git_${at}`), 'ping', 'echo', 'web_a', 'web_b'];
    expect(arranged(names)).toEqual(['git_ 60', 'Other 4']);
  });

  it.each([
    ['2,000 different prefixes', numbered(2000, (at) => `service${at}_tool`)],
    ['one prefix for all', numbered(2000, (at) => `service_tool${at}`)],
    ['names of separators only', numbered(2000, (at) => '_-./:'.repeat((at % 100) + 1))],
    ['the same name', numbered(2000, () => 'twin_twin')],
    ['words that are longer than a prefix', numbered(2000, (at) => `${'x'.repeat(100 + (at % 2))}_${at}`)],
    ['names without a separator', numbered(2000, (at) => `tool${at}`)],
    ['a few of many in groups', numbered(2000, (at) => (at < 900 ? `a${at % 3}_${at}` : `tool${at}`))],
  ])('are not made of %s', (_, names) => {
    expect(arranged(names)).toEqual(['undefined 2000']);
  });

  it('replace the heading of a long part only', () => {
    const pages = items(
      numbered(60, (at) => `${at % 2 ? 'notes' : 'file'}://${at}`),
      'Resources',
    );
    const templates = items(['notes://{id}'], 'Templates');
    expect(headings(sectionsOf([...pages, ...templates], []))).toEqual([
      'file:// 30',
      'notes:// 30',
      'Templates 1',
    ]);
  });

  it('come after the recent items, each of which is there once and only if it is listed', () => {
    const names = [...numbered(60, (at) => `tool${at}`), 'tool7'];
    expect(arranged(names, ['tool7', 'gone', 'tool3'])).toEqual(['Recent 2', 'All 61']);
    expect(arranged(names.slice(0, 10), ['tool7'])).toEqual(['undefined 10']);
  });

  it('take time that grows with the length of the list only', () => {
    const hostile = (count: number) =>
      items(numbered(count, (at) => `${'_-'.repeat(200)}a${'_'.repeat(5000)}${at % 7}_${at}`));
    expect(
      growth((list: readonly ListItem[]) => sectionsOf(list, []), hostile(200), hostile(2000)),
    ).toBeLessThan(40);
  });
});

describe('the rows of a list', () => {
  it('have different keys, also for names that are listed twice or like those of groups', () => {
    const names = [
      ...numbered(60, (at) => `${at % 2 ? 'git' : 'web'}_${at % 20}`),
      'recent',
      'rest ',
      ' git_',
      '',
    ];
    const rows = rowsOf(sectionsOf(items(names), ['recent', 'git_1']), () => true);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    expect(rows.length).toBe(names.length + 2 + 4);
  });

  it('say their place among their siblings, and which heading they belong to', () => {
    const rows = rowsOf(
      sectionsOf(items(numbered(60, (at) => `${at % 2 ? 'git' : 'web'}_${at}`)), []),
      ({ label }) => label === 'git_',
    );
    expect(rows.length).toBe(2 + 30);
    expect(rows[1]).toMatchObject({ level: 1, place: 2, size: 2, isOpen: true });
    expect(rows[31]).toMatchObject({ level: 2, place: 30, size: 30, parent: 1, prefix: 4 });
  });
});

describe('the filter of a list', () => {
  it('finds items that have all words, those with the words in their names first', () => {
    const [one, two, three] = items(['list_issues', 'close_issue', 'List_Pulls']);
    const all = [one, { ...(two as ListItem), text: 'It is in the LIST of open ones.' }, three] as ListItem[];
    expect(matches(all, ' list ').map(({ name }) => name)).toEqual([
      'list_issues',
      'List_Pulls',
      'close_issue',
    ]);
    expect(matches(all, 'list open').map(({ name }) => name)).toEqual(['close_issue']);
    expect(matches(all, '')).toBe(all);
  });
});
