import { trustedProxy } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { server } from './server.js';

// The gateway authenticates the caller and sets a header, which it removes from the requests of clients. Only requests from the
// gateway's own address may name a caller. Where addresses do not tell, let the gateway send a secret: { secret: { header, value } }.
export const running = await serve(server, {
  host: '127.0.0.1',
  port: 0, // any free port: `running.url` contains it
  auth: trustedProxy({ header: 'x-authenticated-user', addresses: ['127.0.0.1'] }),
});
