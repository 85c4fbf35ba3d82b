// Writes what `npm run bench -- peers` has recorded into the comparison page: two tables and a chart. With --check, only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const page = at('docs/comparison.md');
const chart = at('docs/pictures/peers.svg');
const begin = '<!-- peers: from bench/peers.json by `node bench/peers/page.js` -->';
const end = '<!-- end of peers -->';

const { date, commit, node, bun, load, rows } = JSON.parse(readFileSync(at('bench/peers.json'), 'utf8'));
const libraries = rows.filter(({ name }) => name !== 'bare');
const text = readFileSync(page, 'utf8');
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from === -1 || to < from) throw new Error(`docs/comparison.md needs the lines ${begin} and ${end}.`);
const wanted = `${text.slice(0, from)}${begin}\n${tables()}\n${text.slice(to)}`;
const drawing = drawChart();

if (!process.argv.includes('--check')) {
  writeFileSync(page, wanted);
  writeFileSync(chart, drawing);
} else if (text !== wanted || readFileSync(chart, 'utf8') !== drawing) {
  console.error('docs/comparison.md differs from bench/peers.json. Run: node bench/peers/page.js');
  process.exitCode = 1;
}

function tables() {
  return `Measured on ${longDate(date)} at commit \`${commit.slice(0, 8)}\` with Node ${node.slice(1)} and Bun ${bun}, all in one run and in turn${otherWork()}.

![Calls for each second of CPU time, as a share of a program without a library](pictures/peers.svg)

| library | version | HTTP, 2025 | HTTP, 2026 | stdio | start | heap | packages | installed |
|---|---|---|---|---|---|---|---|---|
${libraries.map(line).join('\n')}

On Bun, those that have a fetch handler:

| library | HTTP, 2025 | HTTP, 2026 |
|---|---|---|
${libraries
  .filter((row) => row.bun2025 !== undefined)
  .map((row) => `| ${row.name} | ${percent(row.bun2025)} | ${percent(row.bun2026)} |`)
  .join('\n')}

${better()}
`;
}

/** Says the load if it was higher than one for each processor before the run: other programs may have had the machine, too, or had just ended. */
function otherWork() {
  if (load === undefined || load.before <= load.processors) return '';
  const { before, after, processors } = load;
  return `, on a machine with ${processors} processors and a load of ${before.toFixed(0)} before and ${after.toFixed(0)} after`;
}

/** A sentence that names everybody who was better than fullmcp, by column. */
function better() {
  const ofBare = (column) => (row) => row[column]?.ofBare;
  const columns = [
    ['HTTP of 2025', ofBare('http2025'), 'more'],
    ['HTTP of 2026', ofBare('http2026'), 'more'],
    ['stdio', ofBare('stdio'), 'more'],
    ['the start', ofBare('start'), 'less'],
    ['the heap', ({ heapBytes }) => heapBytes, 'less'],
    ['the number of packages', ({ packages }) => packages, 'less'],
    ['the size of the installation', ({ bytes }) => bytes, 'less'],
    ['HTTP of 2025 on Bun', ofBare('bun2025'), 'more'],
    ['HTTP of 2026 on Bun', ofBare('bun2026'), 'more'],
  ];
  const ours = libraries.find(({ name }) => name === 'fullmcp');
  const found = columns.flatMap(([what, figureOf, wish]) => {
    const sign = wish === 'more' ? 1 : -1;
    const names = libraries
      .filter((row) => (figureOf(row) - figureOf(ours)) * sign > 0)
      .map(({ name }) => name);
    return names.length === 0 ? [] : [`**${what}** (${names.join(', ')})`];
  });
  return found.length === 0
    ? 'Nobody was better than fullmcp in this run.'
    : `Better than fullmcp in this run: ${found.join(', ')}.`;
}

function line(row) {
  const cells = [
    row.name,
    row.version,
    percent(row.http2025),
    percent(row.http2026),
    percent(row.stdio),
    times(row.start),
    `${(row.heapBytes / 1e6).toFixed(1)} MB`,
    row.packages,
    `${(row.bytes / 1e6).toFixed(1)} MB`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function percent(figure) {
  if (figure === undefined) return '–';
  const share = figure.ofBare * 100;
  return `${share >= 10 ? share.toFixed(0) : share.toFixed(1)} %`;
}

function times(figure) {
  return figure === undefined ? '–' : `${figure.ofBare.toFixed(2)} ×`;
}

function longDate(day) {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** Bars for HTTP and stdio, longest first. The colours follow the theme of the reader. */
function drawChart() {
  const groups = [
    ['HTTP', (row) => Math.max(row.http2025?.ofBare ?? 0, row.http2026?.ofBare ?? 0)],
    ['stdio', (row) => row.stdio?.ofBare ?? 0],
  ];
  let y = 0;
  let bars = '';
  for (const [title, shareOf] of groups) {
    const measured = libraries
      .map((row) => ({ name: row.name, share: shareOf(row) }))
      .filter(({ share }) => share > 0);
    y += 30;
    bars += `<text class="title" x="0" y="${y}">${title}</text>\n`;
    for (const { name, share } of measured.sort((one, other) => other.share - one.share)) {
      y += 24;
      const width = Math.max(2, Math.round(Math.min(share, 1.2) * 400));
      bars += `<text x="110" y="${y}" text-anchor="end">${name}</text>`;
      bars += `<rect class="${name === 'fullmcp' ? 'ours' : 'theirs'}" x="120" y="${y - 12}" width="${width}" height="15" rx="2"/>`;
      bars += `<text x="${126 + width}" y="${y}">${percent({ ofBare: share })}</text>\n`;
    }
    y += 12;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 ${y}" role="img" aria-label="Calls for each second of CPU time, as a share of a program without a library">
<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600}.ours{fill:#2563eb}.theirs{fill:#9aa4b2}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#6ea8fe}.theirs{fill:#6b7482}}</style>
${bars}</svg>
`;
}
