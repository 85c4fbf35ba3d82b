import { serve } from 'fullmcp/node';
import { server } from './server.js';

// #region gateway
// The gateway has checked the caller and says so in a header, which it removes from whatever clients send. Listen only where
// nobody but the gateway can connect: whoever reaches this port directly can be anybody.
export const running = await serve(server, {
  host: '127.0.0.1',
  port: 0,
  auth: (req) => {
    const user = req.headers['x-authenticated-user'];
    return typeof user === 'string' ? { subject: user } : undefined;
  },
});
// #endregion
