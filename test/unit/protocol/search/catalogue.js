// The catalogue of tools and the questions that the ranking is measured with.
import { readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');

/** The tools of the catalogue, as a server lists them. */
export function readCatalogue() {
  const tools = [];
  let service = '';
  for (const line of read('catalogue.txt')) {
    if (line === '' || line.startsWith('#')) continue;
    const [name, description, args] = line.split('|').map((part) => part.trim());
    if (description === undefined) service = name;
    else tools.push({ name: `${service}_${name}`, description, inputSchema: schemaOf(args ?? '') });
  }
  return tools;
}

function schemaOf(args) {
  const properties = Object.fromEntries(
    args
      .split(';')
      .filter((part) => part.trim() !== '')
      .map((part) => {
        const [name, description] = part.split(':').map((text) => text.trim());
        return [name, { type: 'string', ...(description && { description }) }];
      }),
  );
  return { type: 'object', properties };
}

/** The questions of one half, with the tool that answers each. */
export function readQuestions(half) {
  const questions = [];
  let current = '';
  for (const line of read('questions.txt')) {
    if (line.startsWith('== ')) current = line.slice(3);
    const [question, tool] = line.split('=>').map((text) => text.trim());
    if (tool !== undefined && current === half) questions.push({ question, tool });
  }
  return questions;
}
