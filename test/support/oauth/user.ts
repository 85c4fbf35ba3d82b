// A user with a browser, without the browser: follows redirects, keeps cookies, and submits the forms of the provider's pages.

const MAX_STEPS = 20;

/** The users whom a test has. Each has cookies of their own. */
export class TestUser {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** The URLs that the user was sent to, to log in. */
  readonly opened: string[] = [];
  /** Every URL that the browser has opened. */
  readonly visited: string[] = [];
  /** The text of the last page of each login. */
  readonly lastPages: string[] = [];

  /** Opens a URL and does what its pages ask for, until a page has no form. */
  readonly open = async (url: string): Promise<void> => {
    this.opened.push(url);
    let response = await this.#request(url);
    for (let step = 0; step < MAX_STEPS; step++) {
      const { status, url: at } = response;
      const location = response.headers.get('location');
      if (status >= 300 && status < 400 && location !== null) {
        response = await this.#request(new URL(location, at).href);
        continue;
      }
      const page = await response.text();
      const [, next] = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(page) ?? [];
      if (next !== undefined) {
        response = await this.#request(new URL(next.replaceAll('&amp;', '&'), at).href);
        continue;
      }
      const form = readForm(page, at);
      if (form === undefined) return void this.lastPages.push(page);
      response = await this.#request(form.action, form.fields);
    }
    throw new Error('The login does not end.');
  };

  async #request(url: string, form?: URLSearchParams): Promise<Response> {
    this.visited.push(url);
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    Object.defineProperty(response, 'url', { value: url });
    return response;
  }
}

function readForm(
  page: string,
  base: string,
): { readonly action: string; readonly fields: URLSearchParams } | undefined {
  const [, action, body = ''] = /<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(page) ?? [];
  if (action === undefined) return undefined;
  const fields = new URLSearchParams();
  const [button] = /<button[^>]*name="[^>]*>/.exec(body) ?? [];
  for (const input of [...body.matchAll(/<input[^>]*>/g)].map(([one]) => one).concat(button ?? [])) {
    if (input.includes('type="checkbox"')) continue;
    const [, name] = /name="([^"]*)"/.exec(input) ?? [];
    const [, value] = /value="([^"]*)"/.exec(input) ?? [];
    if (name !== undefined) fields.set(name, value ?? 'test');
  }
  return { action: new URL(action.replaceAll('&amp;', '&'), base).href, fields };
}
