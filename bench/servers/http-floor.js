// The least that any server of JSON over node:http has to do.
import { createServer } from 'node:http';
import { answerTo } from '../request.js';
import { answerParent } from './report.js';

const http = createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const answer = answerTo(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
    });
    res.end(answer);
  });
});
http.listen(0, '127.0.0.1', () => answerParent(http.address().port));
