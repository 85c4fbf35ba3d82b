// A server on stdio that completes the handshake, stops reading, and sends requests endlessly.
import { once } from 'node:events';
import { handshake, noDiscovery, pings } from './peer.mjs';

let text = '';
process.stdin.on('data', async (chunk) => {
  text += chunk;
  for (const line of text.split('\n').filter((each) => each.endsWith('}'))) {
    const message = JSON.parse(line);
    if (message.method === 'server/discover') process.stdout.write(`${noDiscovery(message.id)}\n`);
    if (message.method !== 'initialize') continue;
    process.stdout.write(`${handshake(message.id)}\n`);
    process.stdin.pause().removeAllListeners('data');
    for (const ping of pings()) {
      if (!process.stdout.write(ping)) await once(process.stdout, 'drain');
    }
  }
  text = '';
});
