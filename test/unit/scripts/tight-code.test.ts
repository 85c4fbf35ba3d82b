import { expect, it } from 'vitest';

type Shorten = (code: string, shortNames?: boolean) => string;
const script = new URL('../../../scripts/tight-code.js', import.meta.url).href;
const { onOneLine, tightLines } = (await import(script)) as Record<'onOneLine' | 'tightLines', Shorten>;
/** The beginning of a value in a template string. */
const VALUE = '$\u007b';

it('removes the white space inside of lines that code does not need, and keeps the lines', () => {
  const code = [
    'const sum = (a, b) => { return a + +b - -1 + a++ + b; };',
    '',
    `\tif (sum(1, 2) in { 3: /a b/g }) throw new Error(\`a ${VALUE} sum(1, 2) }  b\`);`,
    'const text = "a  b" + \'c  d\', half = 1 .toFixed() / 2;',
    'export { sum, text, half, /* @__PURE__ */ sum as other };',
  ].join('\n');
  const tight = tightLines(code);
  expect(tight.split('\n')).toEqual([
    'const sum=(a,b)=>{return a+ +b- -1+a++ +b;};',
    '',
    `if(sum(1,2)in{3:/a b/g})throw new Error(\`a ${VALUE}sum(1,2)}  b\`);`,
    'const text="a  b"+\'c  d\',half=1 .toFixed()/2;',
    'export{sum,text,half, /* @__PURE__ */ sum as other};',
  ]);
});

it('gives code on one line the same exports, and refuses code that cannot be read', () => {
  const minified = onOneLine(
    'const longName = 1;\nexport { longName as kept };\nexport const other = 2;\n',
    true,
  );
  expect(minified.trim()).not.toContain('\n');
  expect(minified).toMatch(/kept/);
  expect(minified).toMatch(/other/);
  expect(minified).not.toMatch(/longName/);
  expect(() => onOneLine('const = 1')).toThrow('cannot be read');
});
