import { audio, createServer, embed, image, jsonSchema, resourceLink, ToolError, text, tool } from 'fullmcp';
import { z } from 'zod';

// #region schemas
const greet = tool({
  description: 'Say hello',
  input: z.object({ name: z.string(), times: z.int().default(1) }),
  run: ({ name, times }) => `Hello ${name}! `.repeat(times).trim(),
});

const shout = tool({
  description: 'The same with plain JSON Schema, which gives the compiler no types',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }) => `HELLO ${String(name).toUpperCase()}!`,
});

const whisper = tool({
  description: 'The same with JSON Schema and a type that you guarantee',
  input: jsonSchema<{ name: string }>({
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  }),
  run: ({ name }) => `hello ${name.toLowerCase()}`,
});
// #endregion

// #region output
const forecast = tool({
  description: 'The weather tomorrow',
  input: z.object({ city: z.string() }),
  output: z.object({ city: z.string(), celsius: z.number() }),
  run: ({ city }) => ({ city, celsius: 21 }),
});
// #endregion

// #region returns
const bytes = new Uint8Array([137, 80, 78, 71]);

const returns = {
  string: tool({ run: () => 'A string' }),
  number: tool({ run: () => 42 }),
  object: tool({ run: () => ({ id: 7, paid: true }) }),
  nothing: tool({ run: () => undefined }),
  block: tool({ run: () => image(bytes, 'image/png') }),
  captioned: tool({ run: () => [image(bytes, 'image/png'), 'The logo'] }),
  blocks: tool({
    run: () => [
      text('See the picture, hear the sound, read the file.'),
      image(bytes, 'image/png'),
      audio(bytes, 'audio/wav'),
      embed('file:///notes.txt', 'Buy milk', { mimeType: 'text/plain' }),
      resourceLink('config://app', { description: 'The settings' }),
    ],
  }),
  full: tool({ run: () => ({ content: [text('Done')], _meta: { 'example.com/took': 12 } }) }),
};
// #endregion

// #region errors
const pay = tool({
  description: 'Pay an order',
  input: z.object({ order: z.int() }),
  run: ({ order }) => {
    if (order > 100) throw new ToolError(`Order ${order} does not exist. The newest is 100.`);
    throw new Error('connect ECONNREFUSED 10.0.0.7:5432');
  },
});
// #endregion

// #region describe
const wipe = tool({
  title: 'Wipe everything',
  description: 'Deletes all notes. Cannot be undone.',
  annotations: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  icons: [{ src: 'https://example.com/wipe.png', mimeType: 'image/png', sizes: ['48x48'] }],
  timeoutMs: 5000,
  run: () => 'All gone',
});
// #endregion

// #region lazy
const report = tool({
  description: 'A long report. Its code is loaded with the first call.',
  input: z.object({ year: z.int() }),
  load: () => import('./report.js'),
});
// #endregion

export default createServer({
  name: 'guide-tools',
  version: '1.0.0',
  tools: { greet, shout, whisper, forecast, pay, wipe, report, ...returns },
});
