import { describe, expect, expectTypeOf, it } from 'vitest';
import { parseTemplate } from '../../src/protocol/uri-template/template.js';
import type { TemplateValues, VariablesOf } from '../../src/server/define/template-values.js';

/** The values that the matcher returns, with the type that the template promises. */
function match<const Uri extends string>(template: Uri, uri: string): VariablesOf<Uri> | undefined {
  return parseTemplate(template).match(uri) as VariablesOf<Uri> | undefined;
}

describe('the types of a URI template', () => {
  it('always contain the variable of a simple or a reserved expression, which never matches an empty value', () => {
    const found = match('users://{id}/{+path}', 'users://7/a/b');
    expectTypeOf(found?.id).toEqualTypeOf<string | undefined>();
    expectTypeOf<VariablesOf<'users://{id}/{+path}'>['id']>().toEqualTypeOf<string>();
    expectTypeOf<VariablesOf<'users://{id}/{+path}'>['path']>().toEqualTypeOf<string>();
    expect(found).toEqual({ id: '7', path: 'a/b' });
    expect(match('users://{id}', 'users://')).toBeUndefined();
    expect(match('users://{+id}', 'users://')).toBeUndefined();
  });

  it.each([
    ['x://a{?q}', 'x://a?q=1'],
    ['x://a?b=1{&q}', 'x://a?b=1&q=1'],
    ['x://a{/q}', 'x://a/1'],
    ['x://a{.q}', 'x://a.1'],
    ['x://a{;q}', 'x://a;q=1'],
    ['x://a{#q}', 'x://a#1'],
  ])('are right to make the variable of %s optional: the matcher leaves it out', (template, uri) => {
    const missing = template.slice(0, template.indexOf('{'));
    expect(parseTemplate(template).match(uri)).toEqual({ q: '1' });
    expect(parseTemplate(template).match(missing)).toEqual({});
  });

  it('have an optional property for the variable of every other expression', () => {
    interface Missing {
      readonly q?: string;
    }
    expectTypeOf<VariablesOf<'x://a{?q}'>['q']>().toEqualTypeOf<Missing['q']>();
    expectTypeOf<VariablesOf<'x://a{&q}'>['q']>().toEqualTypeOf<Missing['q']>();
    expectTypeOf<VariablesOf<'x://a{/q}'>['q']>().toEqualTypeOf<Missing['q']>();
    expectTypeOf<VariablesOf<'x://a{.q}'>['q']>().toEqualTypeOf<Missing['q']>();
    expectTypeOf<VariablesOf<'x://a{;q}'>['q']>().toEqualTypeOf<Missing['q']>();
    expectTypeOf<VariablesOf<'x://a{#q}'>['q']>().toEqualTypeOf<Missing['q']>();
    expectTypeOf<VariablesOf<'x://{q}{?q}'>['q']>().toEqualTypeOf<string>();
  });

  it('have an array for an exploded variable', () => {
    expectTypeOf<VariablesOf<'x://{list*}'>['list']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<VariablesOf<'x://a{/list*}'>['list']>().toEqualTypeOf<readonly string[] | undefined>();
    expect(match('x://{list*}', 'x://a')?.list).toEqual(['a']);
    expect(match('x://a{/list*}', 'x://a/b/c')?.list).toEqual(['b', 'c']);
    expect(match('x://a{/list*}', 'x://a')).toEqual({});
  });

  it('read a prefix, and several variables in one expression', () => {
    expectTypeOf<keyof VariablesOf<'x://{a:3}/{b,c}{?d,e}'>>().toEqualTypeOf<'a' | 'b' | 'c' | 'd' | 'e'>();
    expect(match('x://{a:3}/{b,c}{?d,e}', 'x://abc/1,2?e=4')).toEqual({ a: 'abc', b: '1', c: '2', e: '4' });
  });

  it('are empty for a URI without variables, and open for a template that the compiler does not know', () => {
    expectTypeOf<keyof VariablesOf<'config://app'>>().toBeNever();
    expectTypeOf<VariablesOf<string>>().toEqualTypeOf<TemplateValues>();
  });
});
