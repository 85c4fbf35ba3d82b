import { createServer, resource, tool } from 'fullmcp';
import { z } from 'zod';

// #region changes
let temperature = 20;

const server = createServer({
  name: 'guide-changes',
  version: '1.0.0',
  changes: ['tools', 'resource'],
  resources: { 'room://temperature': resource({ read: () => temperature }) },
  tools: {
    heat: tool({
      input: z.object({ degrees: z.number() }),
      run: ({ degrees }, { changed }) => {
        temperature += degrees;
        changed.resource('room://temperature');
      },
    }),
  },
});

// This also works outside a call: in a sensor, a timer or a file watcher.
export function onSensor(value: number): void {
  temperature = value;
  server.changed.resource('room://temperature');
}
// #endregion

// #region dynamic
export function holidayMode(): { end: () => void } {
  const handle = server.tool('party', { description: 'Lights on' }, () => 'Party!');
  return { end: handle.remove };
}
// #endregion

export default server;
