// A server whose events are the webhooks of GitHub.

import { createServer, event } from 'fullmcp';
import { eventFrom } from 'fullmcp/events';
import { z } from 'zod';

export const server = createServer({
  name: 'issues',
  version: '1.0.0',
  events: {
    issue_changed: event({
      description: 'An issue was opened, edited or closed',
      payload: z.object({ number: z.number(), action: z.string(), title: z.string() }),
    }),
  },
});

const Delivery = z.object({
  action: z.string(),
  issue: z.object({ number: z.number(), title: z.string() }),
});

/** The handler of the webhooks, for a server whose address GitHub knows. */
export function intakeOf(secret: string) {
  // #region intake
  const github = eventFrom(server, {
    sender: 'github',
    secret,
    event({ type, body }) {
      // There are no events of other webhooks, which are accepted all the same.
      if (type !== 'issues') return undefined;
      const { action, issue } = Delivery.parse(body);
      return { name: 'issue_changed', data: { ...issue, action } };
    },
  });
  // Elsewhere than on Node: `export default { fetch: github }`. On Node: `app.post('/github', github.node)`, before the body parser.
  // #endregion
  return github;
}
