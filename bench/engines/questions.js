// The questions of sessions: a call asks over one replica, and the client answers at the next one.
import { ask, open } from '../load/http.js';
import { startSession } from '../load/session.js';
import { post } from '../request.js';

const CLIENTS = 16;

/**
 * Clients of sessions call a tool that asks, and answer its question, for `ms`.
 * @param {{ port: number, ask: (question: object) => Promise<any> }[]} replicas
 * @param {{ ms: number }} options
 */
export async function askQuestions(replicas, { ms }) {
  const ports = replicas.map(({ port }) => port);
  const headers = await Promise.all(Array.from({ length: CLIENTS }, () => startSession(ports[0])));
  const cpu = async () => {
    const all = await Promise.all(replicas.map((replica) => replica.ask({ what: 'cpu' })));
    return all.reduce((sum, { user, system }) => sum + (user + system) / 1000, 0);
  };
  const [before, from] = [await cpu(), performance.now()];
  let number = 0;
  await Promise.all(
    headers.map(async (header, client) => {
      for (let turn = 0; performance.now() < from + ms; turn++) {
        const here = ports[(client + turn) % ports.length];
        const elsewhere = ports[(client + turn + 1) % ports.length];
        await askOne({ here, elsewhere, header, id: turn + 2 });
        number++;
      }
    }),
  );
  const took = performance.now() - from;
  return { number, ms: took, cpuMs: (await cpu()) - before };
}

async function askOne({ here, elsewhere, header, id }) {
  const call = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'asks', arguments: {} } };
  const stream = await openStream(here, post(here, JSON.stringify(call), header));
  try {
    const question = await stream.next((message) => message.method === 'elicitation/create');
    const answer = {
      jsonrpc: '2.0',
      id: question.id,
      result: { action: 'accept', content: { text: 'yes' } },
    };
    const socket = await open(elsewhere);
    const reply = await ask(socket, post(elsewhere, JSON.stringify(answer), header));
    socket.destroy();
    if (!reply.startsWith('HTTP/1.1 202')) throw new Error(`The answer was rejected:\n${reply}`);
    const { result, error } = await stream.next((message) => message.id === id);
    if (result?.content[0].text !== 'done') throw new Error(`The call failed: ${JSON.stringify(error)}`);
  } finally {
    stream.close();
  }
}

/** Sends a request whose reply is an event stream, and reads its messages. */
async function openStream(port, request) {
  const socket = await open(port);
  let text = '';
  let look = () => {};
  let problem = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('utf8');
    look();
  });
  socket.on('close', () => {
    problem = `The stream ended early:\n${text}`;
    look();
  });
  socket.on('error', () => socket.destroy());
  socket.write(request);
  return {
    /** The first message that fits. @param {(message: any) => boolean} fits @returns {Promise<any>} */
    next: (fits) =>
      new Promise((resolve, reject) => {
        look = () => {
          const messages = [...text.matchAll(/^data: ?(\{.*\})\r?$/gm)].map(([, data = '']) =>
            JSON.parse(data),
          );
          const found = messages.find(fits);
          if (found !== undefined) resolve(found);
          else if (problem !== '') reject(new Error(problem));
        };
        look();
      }),
    close: () => socket.destroy(),
  };
}
