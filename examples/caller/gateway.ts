import { serve } from 'fullmcp/node';
import { server } from './server.js';

// The gateway authenticates the caller and sets a header, which it removes from the requests of clients. Listen only where the
// gateway alone can connect: anyone who reaches this port directly can pretend to be any caller.
export const running = await serve(server, {
  host: '127.0.0.1',
  port: 0, // any free port: `running.url` contains it
  auth: (req) => {
    const user = req.headers['x-authenticated-user'];
    return typeof user === 'string' ? { subject: user } : undefined;
  },
});
