// The report as one page that loads nothing and runs nothing: it is opened from disk, and shows the words of models and servers.

import { clean, cleanLine } from '../../tooling/clean.js';
import type { CaseReport, EvalReport, EvalRunReport, ModelReport } from './report.js';

const MAX_ANSWER = 4000;
const MAX_ARGS = 2000;

/** The text of an HTML file. Everything in it that is not ours is text: no link, no picture, no script. */
export function htmlReport(report: EvalReport, { title }: { readonly title: string }): string {
  const { models, ok } = report;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    // Even if something in the page were markup, it could load nothing.
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}: ${ok ? 'ok' : 'not ok'}</title>`,
    `<style>${STYLE}</style>`,
    `<main><h1>${escaped(title)} <span class="${ok ? 'good' : 'bad'}">${ok ? 'ok' : 'not ok'}</span></h1>`,
    overview(models),
    ...models.map(modelPart),
    '</main></html>',
    '',
  ].join('\n');
}

function overview(models: readonly ModelReport[]): string {
  const rows = models.map(
    ({ name, score, usage, cost, medianMs }) =>
      `<tr><th scope="row">${escaped(name)}</th><td>${percent(score.share)}</td><td>${percent(score.low)} to ${percent(score.high)}</td><td>${usage.input}</td><td>${usage.cached}</td><td>${usage.output}</td><td>${cost === undefined ? '' : cost.toFixed(4)}</td><td>${medianMs} ms</td></tr>`,
  );
  const heads = ['Model', 'Score', '95 %', 'Tokens in', 'cached', 'out', 'Cost', 'Median'];
  return `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function modelPart({ name, cases, notes }: ModelReport): string {
  return [
    `<section><h2>${escaped(name)}</h2>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    ...cases.map(casePart),
    '</section>',
  ].join('\n');
}

function casePart(one: CaseReport): string {
  const { name, state, because, ok, passed, of, interval, runs } = one;
  const word = ['fresh', 'recorded'].includes(state) ? (ok ? 'ok' : 'failed') : state;
  return [
    `<details${ok ? '' : ' open'}><summary><span class="${ok ? 'good' : 'bad'}">${word}</span> ${escaped(cleanLine(name, 300))} <small>${passed} of ${of}, ${percent(interval.low)} to ${percent(interval.high)}</small></summary>`,
    because.length === 0 ? '' : `<p>${escaped(because.join('; '))}</p>`,
    ...runs.map(runPart),
    '</details>',
  ].join('\n');
}

function runPart({ run, passed, problems, calls, answer }: EvalRunReport): string {
  const made = calls.map(
    ({ tool, args, written, isError, refused }) =>
      `<li><code>${escaped(tool)}</code> <code>${escaped((args === undefined ? (written ?? '') : JSON.stringify(args)).slice(0, MAX_ARGS))}</code>${refused === undefined ? '' : ` <span class="bad">${refused}</span>`}${isError ? ' <span class="bad">the tool failed</span>' : ''}</li>`,
  );
  return [
    `<h3>Run ${run} <span class="${passed ? 'good' : 'bad'}">${passed ? 'passed' : 'failed'}</span></h3>`,
    ...problems.map(({ says }) => `<p class="bad">${escaped(says)}</p>`),
    made.length === 0 ? '<p>No call.</p>' : `<ol>${made.join('')}</ol>`,
    answer === '' ? '' : `<blockquote>${escaped(answer.slice(0, MAX_ANSWER))}</blockquote>`,
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return clean(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #8884; }
details { border-bottom: 1px solid #8884; padding: .5rem 0; }
summary { cursor: pointer; }
h3 { font-size: 1rem; }
code, blockquote { overflow-wrap: anywhere; }
blockquote { white-space: pre-wrap; margin: .5rem 0; padding: .25rem 1rem; border-left: 3px solid #8888; }
.good { color: light-dark(#116329, #56d364); }
.bad { color: light-dark(#a40e26, #ff8a80); }
`;
