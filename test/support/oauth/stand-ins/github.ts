import type { Answer, Issued, Provider } from './stand-in.js';

/**
 * GitHub: no metadata, no registration, errors with status 200 and names of their own, form-encoded answers, scopes with commas,
 * opaque tokens without an end, and `resource` ignored.
 */
export function github({ scopes = ['read:user', 'repo'] }: { readonly scopes?: readonly string[] } = {}) {
  return (origin: string, issued: Issued): Provider => ({
    issuer: `${origin}/login/oauth`,
    scopes,
    routes: {
      'GET /login/oauth/authorize': ({ query }) => issued.redirect(query),
      'POST /login/oauth/access_token'({ form }): Answer {
        if (form.get('client_secret') !== 'github-secret')
          return refuse(
            'incorrect_client_credentials',
            'The client_id and/or client_secret passed are incorrect.',
          );
        const query = issued.redeem(form);
        if (query === undefined)
          return refuse('bad_verification_code', 'The code passed is incorrect or expired.');
        const scope = (query.get('scope') ?? '').split(' ').sort().join(',');
        return { form: { access_token: issued.token('gho_'), scope, token_type: 'bearer' } };
      },
    },
  });
}

function refuse(error: string, error_description: string): Answer {
  return { status: 200, form: { error, error_description, error_uri: 'https://docs.example/errors' } };
}
