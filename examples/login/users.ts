import { connect, McpError } from 'fullmcp/client';
import { fileTokenStore, type HopErrorData, type OAuthEvent, oauth } from 'fullmcp/oauth';

// The examples of docs/log-in.md.

/** The function `oauth`. Tests pass one with a browser of their own. */
type Login = typeof oauth;

export async function browser(url: string, oauth: Login): Promise<string> {
  // #region browser
  const auth = oauth({ client: { name: 'My program' } });
  await using client = await connect(url, { auth });
  // #endregion
  return (await client.callTool('read')).text;
}

export async function stored(
  url: string,
  oauth: Login,
  { folder, key }: { readonly folder: string; readonly key: string },
): Promise<string> {
  // #region store
  const store = fileTokenStore({ folder, key }); // `key`: 32 random characters, or a function that reads a keychain
  const auth = oauth({ client: { name: 'My program' }, store });
  // #endregion
  await using client = await connect(url, { auth });
  return (await client.callTool('read')).text;
}

export async function device(url: string, print: (line: string) => void): Promise<string> {
  // #region device
  const auth = oauth({
    flow: 'device',
    onEvent(event) {
      if (event.type === 'device code') print(`Open ${event.verificationUri} and enter ${event.userCode}`);
    },
  });
  await using client = await connect(url, { auth });
  // #endregion
  return (await client.callTool('read')).text;
}

export async function headless(
  url: string,
  ask: (question: string, signal: AbortSignal) => Promise<string>,
): Promise<string> {
  // #region headless
  const auth = oauth({
    redirectUri: 'http://127.0.0.1:9/callback', // nothing needs to listen there
    authorize: ({ url, signal }) =>
      ask(`Open ${url}\nThen paste the address of the page that you were sent to: `, signal),
  });
  await using client = await connect(url, { auth });
  // #endregion
  return (await client.callTool('read')).text;
}

export async function failing(url: string, oauth: Login): Promise<string> {
  // #region errors
  try {
    await using client = await connect(url, { auth: oauth() });
    return client.server.revision;
  } catch (error) {
    if (!McpError.is(error)) throw error;
    const { hop, error: answered } = (error.data ?? {}) as Partial<HopErrorData>;
    return `${hop}: ${answered}`; // authorization: access_denied
  }
  // #endregion
}

export async function watched(url: string, oauth: Login): Promise<string[]> {
  // #region events
  const lines: string[] = [];
  function onEvent(event: OAuthEvent) {
    switch (event.type) {
      case 'authorize':
        lines.push(`Waiting for you to log in at ${new URL(event.url).origin}`);
        break;
      case 'tokens':
        lines.push(event.how === 'login' ? 'You are logged in' : `Tokens from the ${event.how}`);
        break;
      case 'failed':
        lines.push(event.message);
    }
  }
  await using client = await connect(url, { auth: oauth({ onEvent }) });
  // #endregion
  await client.callTool('read');
  return lines;
}

export async function leaving(url: string, oauth: Login): Promise<void> {
  // #region logout
  const auth = oauth();
  await using client = await connect(url, { auth });
  await client.callTool('read');
  await auth.logout(url); // the next call begins with a login
  // #endregion
}

export async function exceptions(url: string, issuer: string, oauth: Login): Promise<string> {
  // #region exceptions
  const auth = oauth({
    registered: { clientId: '1b2c…', issuer }, // 'https://login.microsoftonline.com/…/v2.0'
    issuers: { [issuer]: { assumeS256: true, sendResource: false } },
  });
  // #endregion
  await using client = await connect(url, { auth });
  return (await client.callTool('hello')).text;
}
