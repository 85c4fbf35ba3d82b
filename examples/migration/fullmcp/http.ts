import { McpError } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { server } from './shop.js';

const users = new Map([['secret-of-ada', 'ada']]);

const { url } = await serve(server, {
  auth: (req) => {
    const subject = users.get(req.headers.authorization?.replace(/^Bearer /, '') ?? '');
    if (subject === undefined) throw new McpError('unauthorized', 'This token is not valid');
    return { subject };
  },
});
console.log(`Listening on ${url}`);
