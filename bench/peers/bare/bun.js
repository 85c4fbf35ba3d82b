import { answer } from './answer.js';

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  async fetch(request) {
    const text = answer(await request.text());
    return text === undefined
      ? new Response(null, { status: 202 })
      : new Response(text, { headers: { 'content-type': 'application/json' } });
  },
});
