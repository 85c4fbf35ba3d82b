import { type Bus, memoryBus } from 'fullmcp';
import { expect, it } from 'vitest';
import { Topic } from '../../../src/state/topic.js';
import { until } from '../../support/until.js';

it('tells other processes that they have missed a message, once the bus carries messages again', async () => {
  const bus = memoryBus();
  let isAway = true;
  const flaky: Bus = {
    ...bus,
    publish: (topic, message) =>
      isAway ? Promise.reject(new Error('The bus is away')) : bus.publish(topic, message),
  };
  const failures: unknown[] = [];
  const make = (of: Bus) =>
    new Topic<{ n?: number }>({ name: 'news', bus: () => of, onFailure: (error) => failures.push(error) });
  const [sender, receiver] = [make(flaky), make(bus)];
  const heard: (number | 'gap' | undefined)[] = [];
  receiver.subscribe({ message: ({ n }) => void heard.push(n), gap: () => void heard.push('gap') });
  await receiver.ready();
  sender.publish({ n: 1 });
  sender.publish({ n: 2 });
  await until('both failures are reported', () => failures.length === 2);
  expect(heard).toEqual([]);
  isAway = false;
  sender.publish({ n: 3 });
  await until('the gap is reported', () => heard.includes('gap'));
  expect(heard).toEqual([3, 'gap']);
  sender.close();
  receiver.close();
});
