import { jwt } from 'fullmcp/auth';
import { type Serving, serve } from 'fullmcp/node';
import { server } from './server.js';

export async function protect(issuer: string, audience: string): Promise<Serving> {
  // #region protect
  const auth = jwt({ issuer, audience }); // 'https://login.example.com', 'https://mcp.example.com/mcp'
  const serving = await serve(server, { auth, publicUrl: audience });
  // #endregion
  return serving;
}
