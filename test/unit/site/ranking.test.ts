import { expect, test } from 'vitest';

interface Ranking {
  processTerm(term: string): string | null;
  ranking(asks: Readonly<Record<string, string>>): {
    searchOptions: {
      boostDocument(id: string, term: string, stored: { titles: string[] }): number;
      prefix(term: string, at: number, terms: readonly string[]): boolean;
      fuzzy(term: string): number;
    };
  };
}
const { processTerm, ranking }: Ranking = await import(
  new URL('../../../site/ranking.js', import.meta.url).href
);
const { boostDocument, fuzzy, prefix } = ranking({
  '/tasks.html': 'long jobs',
  '/recipes/nightly-job.html': 'nightly job',
  '/stdio.html': 'console.log',
}).searchOptions;
const top = { titles: [] };

test('A word that people use for a page weighs more at the top of that page, and nowhere else.', () => {
  expect(boostDocument('/tasks.html#tasks', 'job', top)).toBe(6);
  expect(boostDocument('/tasks.html#limits', 'job', { titles: ['Tasks'] })).toBe(1);
  expect(boostDocument('/http.html#http', 'job', top)).toBe(1);
});

test('A guide is above the recipe that people use the same word for.', () => {
  expect(boostDocument('/recipes/nightly-job.html#a-nightly-job', 'job', top)).toBe(4);
  expect(boostDocument('/recipes/resume.html#resume', 'job', top)).toBe(0.7);
});

test('Words are compared in the singular, in small letters, and a word with a dot is two, as in the index.', () => {
  expect([processTerm('Jobs'), processTerm('access'), processTerm('the')]).toEqual(['job', 'access', null]);
  expect(boostDocument('/stdio.html', 'console', top)).toBe(6);
  expect(boostDocument('/stdio.html', 'log', top)).toBe(6);
});

test('Pages with words of every subject weigh less than the page about a subject.', () => {
  expect(boostDocument('/reference/http.html#serve', 'job', top)).toBe(0.3);
  expect(boostDocument('/cli/call.html#call', 'job', top)).toBe(0.5);
  expect(boostDocument('/architecture.html#layers', 'job', top)).toBe(0.2);
});

test('A short word is not taken for another that has one letter more, and only the last one for the beginning of another.', () => {
  expect([fuzzy('ask'), fuzzy('promethus')]).toEqual([0, 0.2]);
  const terms = ['see', 'prometh', 'met'];
  expect(terms.map((term, at) => prefix(term, at, terms))).toEqual([false, true, true]);
});
