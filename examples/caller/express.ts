// #region express
import express, { type Request } from 'express';
import { createNodeHandler } from 'fullmcp/node';
import { server } from './server.js';

type LoggedIn = Request & { user?: { readonly id: string } };

const app = express();
app.use(logIn); // Passport, or any other middleware that puts the user on the request
app.use('/mcp', createNodeHandler(server, { auth: (req: LoggedIn) => req.user && { subject: req.user.id } }));
// #endregion

function logIn(req: LoggedIn, _res: unknown, next: () => void): void {
  if (req.header('cookie') === 'session=ada') req.user = { id: 'ada' };
  next();
}

export { app };
