import { describe, expect, test } from 'vitest';
import {
  covers,
  grant,
  includes,
  intersection,
  offersOf,
  reportAllChanged,
  union,
} from '../../../../src/protocol/model/subscriptions.js';

const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a:1', 'a:2'],
  taskIds: ['t1'],
};

describe('subscription filters', () => {
  test('a server grants the part of a filter that its capabilities offer, without tasks', () => {
    expect(grant(everything, offersOf({ tools: { listChanged: true }, prompts: {}, resources: {} }))).toEqual(
      {
        toolsListChanged: true,
      },
    );
    expect(grant(everything, offersOf({ resources: { subscribe: true } }))).toEqual({
      resourceSubscriptions: ['a:1', 'a:2'],
    });
    expect(grant({ resourceSubscriptions: [] }, () => true)).toEqual({});
  });

  test('a union has each change of its filters once', () => {
    expect(
      union([
        { toolsListChanged: true, resourceSubscriptions: ['a:1'] },
        { resourceSubscriptions: ['a:2', 'a:1'] },
      ]),
    ).toEqual({ toolsListChanged: true, resourceSubscriptions: ['a:1', 'a:2'] });
    expect(union([])).toEqual({});
  });

  test('an intersection has the changes that both filters include', () => {
    expect(intersection(everything, { promptsListChanged: true, taskIds: ['t1', 't2'] })).toEqual({
      promptsListChanged: true,
      taskIds: ['t1'],
    });
    expect(intersection(everything, {})).toEqual({});
    expect(intersection(everything, everything)).toEqual(everything);
  });

  test('a filter covers another one if it includes all of its changes', () => {
    expect(covers(everything, { taskIds: ['t1'], toolsListChanged: true })).toBe(true);
    expect(covers(everything, {})).toBe(true);
    expect(covers({ toolsListChanged: true }, everything)).toBe(false);
    expect(covers(everything, { resourceSubscriptions: ['a:1', 'a:3'] })).toBe(false);
  });

  test('a filter includes the notifications of its changes, and those of resources below its URIs', () => {
    const updated = (uri: unknown): boolean =>
      includes({ resourceSubscriptions: ['a:1'] }, 'notifications/resources/updated', { uri });
    expect([updated('a:1'), updated('a:1/b'), updated('a:12'), updated(1)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(includes(everything, 'notifications/prompts/list_changed', undefined)).toBe(true);
    expect(includes({}, 'notifications/prompts/list_changed', undefined)).toBe(false);
    expect(includes(everything, 'notifications/tasks', { taskId: 't1' })).toBe(true);
    expect(includes(everything, 'notifications/tasks', { taskId: 't2' })).toBe(false);
    expect(includes(everything, 'notifications/message', {})).toBe(false);
  });

  test('after a gap, every list and resource of a filter is reported as changed', () => {
    const reports: unknown[] = [];
    reportAllChanged(everything, (method, params) => reports.push([method, params]));
    expect(reports).toEqual([
      ['notifications/tools/list_changed', undefined],
      ['notifications/prompts/list_changed', undefined],
      ['notifications/resources/list_changed', undefined],
      ['notifications/resources/updated', { uri: 'a:1' }],
      ['notifications/resources/updated', { uri: 'a:2' }],
    ]);
  });
});
