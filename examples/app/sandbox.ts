// The sandbox of a host: a page that shows apps at an origin of its own.
import { sandboxPage } from 'fullmcp/apps';

// #region sandbox
export default {
  fetch({ url }: Request): Response {
    const { html, headers } = sandboxPage({ hosts: ['https://chat.example.com'], requestUrl: url });
    return new Response(html, { headers });
  },
};
// #endregion
