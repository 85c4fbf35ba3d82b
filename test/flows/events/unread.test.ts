import { createServer, event } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, test } from 'vitest';
import { modern, modernExchange, modernStream } from '../../support/http/modern.js';
import { printPost, rawSocket } from '../../support/http/raw.js';
import { until } from '../../support/until.js';
import { messagesOf } from './desk.js';

test('A client that never reads its stream of events is cut off, and the others get every event', async () => {
  let streams = 0;
  const server = createServer({
    name: 'busy',
    version: '1',
    events: { large: event({ payload: { type: 'object' } }) },
    use: [
      async (call, next) => {
        if (call.method !== 'events/stream') return next(call);
        streams++;
        return next(call).finally(() => streams--);
      },
    ],
  });
  const serving = await serve(server, { port: 0, signals: false, maxBufferedBytes: 1_000_000 });
  const reading = messagesOf(await modernStream(serving.url, 'events/stream', { name: 'large' }));
  await reading.next();
  const socket = await rawSocket(serving.port);
  socket.pause();
  socket.write(printPost(modernExchange('events/stream', { name: 'large' })));
  await until('both streams are open', () => streams === 2);
  const text = 'x'.repeat(200_000);
  let emitted = 0;
  while (streams === 2 && emitted < 200) {
    await server.emit('large' as never, { n: emitted, text } as never);
    const message = await reading.next();
    expect(message?.params.data.n).toBe(emitted++);
  }
  expect(streams).toBe(1);
  const { status } = await modern(serving.url, 'events/poll', { name: 'large' });
  expect(status).toBe(200);
  reading.drop();
  socket.destroy();
  await serving.close();
});
