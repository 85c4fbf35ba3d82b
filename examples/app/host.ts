// The page of a host: connects to a server, and shows the app of a tool.
import { appsClient, showApp } from 'fullmcp/apps';
import { connect } from 'fullmcp/client';

export async function showSales(url: string, container: HTMLElement): Promise<AsyncDisposable> {
  // #region host
  const client = await connect(url, { extensions: [appsClient] });
  const tool = (await client.tools().all()).find(({ name }) => name === 'sales');
  if (tool === undefined) throw new Error('The server has no sales.');

  const view = await showApp(client, {
    tool,
    container,
    context: { theme: 'dark', locale: navigator.language },
    approve: ({ method }) => method !== 'resources/read',
    onOpenLink: (link) => window.open(link, '_blank', 'noopener'),
    onModelContext: ({ content }) => console.info(content),
  });
  await view.run({ year: 2026 });
  // #endregion
  return view;
}
