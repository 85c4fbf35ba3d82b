import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FONT_FACE } from '../../../src/face/font.js';
import { MARK, MARK_SHAPE } from '../../../src/face/mark.js';

it.each(['inspector/index.html', 'inspector/style/mark.svg', 'docs/pictures/fullmcp.svg'])(
  'the mark in %s has the shape of the mark in pages',
  (file) => {
    expect(MARK).toContain(MARK_SHAPE);
    expect(readFileSync(file, 'utf8')).toContain(MARK_SHAPE);
  },
);

it('the mark is the same when it is turned by half a circle: two ends that fit into each other', () => {
  const [one = '', other = ''] = MARK_SHAPE.split(/(?<=z)/);
  const start = /^M([\d.]+) ([\d.]+)A8 8 0 0 0 ([\d.]+) ([\d.]+)/;
  const ends = (part: string) => start.exec(part)?.slice(1).map(Number) ?? [];
  expect(ends(other)).toEqual(ends(one).map((value) => Math.round((16 - value) * 1000) / 1000));
});

it('the font in pages is WOFF 2, has at most 17 kB, and cannot end the style that it is in', () => {
  const [, data = ''] = /base64,([\w+/=]+)\)\}$/.exec(FONT_FACE) ?? [];
  const font = Buffer.from(data, 'base64');
  expect(font.subarray(0, 4).toString()).toBe('wOF2');
  expect(font.length).toBeLessThanOrEqual(17_000);
  expect(FONT_FACE).not.toMatch(/[<\n]/);
});

it('the font of the page of the inspector has at most 24 kB, and its licence is beside it', () => {
  const folder = 'inspector/style/inter';
  expect(readFileSync(`${folder}/inter.woff2`).subarray(0, 4).toString()).toBe('wOF2');
  expect(statSync(`${folder}/inter.woff2`).size).toBeLessThanOrEqual(24_000);
  const licence = readFileSync(`${folder}/LICENSE.txt`, 'utf8');
  expect(licence).toContain('SIL OPEN FONT LICENSE Version 1.1');
  expect(licence).not.toMatch(/with Reserved Font Name/);
});
