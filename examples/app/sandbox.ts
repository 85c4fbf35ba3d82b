// The sandbox of a host: a page that shows apps at an origin of its own.
import { sandboxPage } from 'fullmcp/apps';

// #region sandbox
const { html, headers } = sandboxPage({ hosts: ['https://chat.example.com'] });

export default {
  fetch: (): Response => new Response(html, { headers }),
};
// #endregion
