import type { SharedState } from '../state/cluster.js';
import { Topic } from '../state/topic.js';
import type { ReleaseAnnouncement } from './catalog/releases.js';
import type { ChangeMessage, TaskAnnouncement } from './state/changes.js';
import type { OutcomeAnnouncement } from './state/end-watch.js';
import type { Logger } from './state/log.js';

/** The topics of the bus over which the processes of a server talk to each other. */
export interface ServerTopics {
  readonly changes: Topic<ChangeMessage>;
  readonly tasks: Topic<TaskAnnouncement>;
  readonly outcomes: Topic<OutcomeAnnouncement>;
  readonly releases: Topic<ReleaseAnnouncement>;
}

/** Makes the topics of a server. */
export function serverTopics({ server, bus }: SharedState, log: Logger): ServerTopics {
  return {
    // Another server on the same engine may have resources with the same URIs, and has lists of its own.
    changes: topic('changes', `changes:${server}`),
    tasks: topic('tasks'),
    outcomes: topic('outcomes'),
    releases: topic('releases'),
  };

  function topic<Message extends object>(subject: string, name = subject): Topic<Message> {
    return new Topic({
      name,
      bus,
      onFailure: (error) => log('warning', `The bus could not carry announcements of ${subject}`, error),
    });
  }
}
