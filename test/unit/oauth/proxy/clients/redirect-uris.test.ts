import { describe, expect, it } from 'vitest';
import {
  checkSchemes,
  isRegisteredRedirect,
  redirectUriProblem,
} from '../../../../../src/oauth/proxy/clients/redirect-uris.js';

describe('a redirect URI', () => {
  it.each(['https://app.example.com/back', 'http://127.0.0.1:5000/back', 'http://localhost/back'])(
    'of the web or of the own computer may be registered: %s',
    (uri) => expect(redirectUriProblem(uri, [])).toBeUndefined(),
  );

  it.each(['http://app.example.com/back', 'javascript:alert(1)', 'cursor://back', 'not a URI'])(
    'that leads elsewhere may not be registered: %s',
    (uri) => expect(redirectUriProblem(uri, [])).toBeTypeOf('string'),
  );

  it('of an application may be registered if the operator has named its scheme, and only then', () => {
    expect(redirectUriProblem('cursor://back/here', ['cursor'])).toBeUndefined();
    expect(redirectUriProblem('cursor://back/here', ['vscode'])).toBeTypeOf('string');
  });

  it('of an application must be right in everything else', () => {
    expect(redirectUriProblem('cursor://back/here#fragment', ['cursor'])).toBeTypeOf('string');
  });

  it('is compared character by character, except for the port of the own computer', () => {
    expect(isRegisteredRedirect(['http://127.0.0.1:1/back'], 'http://127.0.0.1:50000/back')).toBe(true);
    expect(isRegisteredRedirect(['http://127.0.0.1:1/back'], 'http://127.0.0.1:1/other')).toBe(false);
    expect(isRegisteredRedirect(['https://app.example.com/back'], 'https://app.example.com:8443/back')).toBe(
      false,
    );
    expect(isRegisteredRedirect(['https://app.example.com/back'], 'https://app.example.com/back/')).toBe(
      false,
    );
  });

  it('may not have a scheme that browsers interpret, even if the operator names it', () => {
    for (const scheme of ['javascript', 'https', 'data', 'Cursor'])
      expect(() => checkSchemes([scheme])).toThrow(scheme);
    checkSchemes(['cursor', 'com.example.app']);
  });
});
