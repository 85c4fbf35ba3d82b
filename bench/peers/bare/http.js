import { createServer } from 'node:http';
import { answer } from './answer.js';

createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const text = answer(Buffer.concat(chunks).toString('utf8'));
    if (text === undefined) res.writeHead(202).end();
    else
      res
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
        .end(text);
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
