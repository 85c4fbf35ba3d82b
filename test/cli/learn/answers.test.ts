import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/model/client.js';
import { connect } from '../../../src/client.js';
import { queryWords } from '../../../src/protocol/model/search/query-words.js';
import { singular } from '../../../src/protocol/model/search/singular.js';
import { WordIndex } from '../../../src/protocol/model/search/word-index.js';
import { wordsOf } from '../../../src/protocol/model/search/words.js';
import { questions } from '../../support/questions.js';
import { plainEnv, program } from '../project/support.js';

// No model takes part: the first result is the answer.

const docs = fileURLToPath(new URL('../../../dist/docs/', import.meta.url));
const LEAST_RIGHT = 18;

let list: string;
beforeAll(async () => {
  list = await readFile(join(docs, 'llms.txt'), 'utf8');
});

/** The questions that were answered with another page, as sentences. */
async function wrongAnswers(first: (question: string) => Promise<string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const [question, ...pages] of questions) {
    const got = await first(question);
    if (!pages.some((page) => got === `${page}.md`))
      wrong.push(`"${question}" found ${got} instead of ${pages.join(' or ')}`);
  }
  return wrong;
}

describe('twenty questions of new users, without a model', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(
      { command: process.execPath, args: [program, 'docs'], env: plainEnv as Record<string, string> },
      { connectTimeoutMs: 60_000 },
    );
  }, 60_000);
  afterAll(() => client.close());

  it('are answered with the right page first by `fullmcp docs` over MCP on stdio, at least 18 of 20', async () => {
    const wrong = await wrongAnswers(async (query) => {
      const { data } = await client.callTool('search_docs', { query });
      return (data as { results: { page: string }[] }).results[0]?.page ?? 'nothing';
    });
    expect(questions.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(LEAST_RIGHT);
  });

  it('are answered with the right line of llms.txt first, at least 18 of 20', async () => {
    // The reference repeats in detail what the guides explain.
    const [before = '', after = ''] = list.split(/^## Reference$/m);
    const guides = before + after.slice(after.indexOf('\n## '));
    const lines = guides.split('\n').filter((line) => line.startsWith('- ['));
    const index = new WordIndex();
    for (const line of lines) index.add(countsOf(line));
    const all = index.subset(lines.keys());
    const wrong = await wrongAnswers(async (question) => {
      const [best] = index.search(queryWords(question, index, all), all, 1);
      return /\]\(([^)]*)\)/.exec(lines[best?.document ?? -1] ?? '')?.[1] ?? 'nothing';
    });
    expect(questions.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(LEAST_RIGHT);
  });
});

function countsOf(line: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text, parts } of wordsOf(line))
    for (const word of [text, ...parts].map(singular)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
