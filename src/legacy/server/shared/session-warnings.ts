import { SHARING_ADVICE } from '../../../state/cluster.js';

// Warnings for the operator: signs that several processes serve the sessions of a server, and do not share them.

/** The parts of `sessionWarnings`. */
export interface SessionWarningParts {
  /** Whether other processes use the same store. */
  readonly isShared: boolean;
  /** Finds out where a session id comes from that this process does not accept. */
  readonly originOf: (id: string, principal: string) => Promise<SessionOrigin | undefined>;
  /** Reports a problem to the operator. */
  readonly warn: (message: string) => void;
}

/** The origin of a session id with another secret: it was issued while this process ran, or earlier. */
export type SessionOrigin = 'meanwhile' | 'earlier';

/** Warns the operator of each sign once. */
export interface SessionWarnings {
  /** A client answered a question that is not open. Returns the message for the client. */
  readonly unknownAnswer: () => string;
  /** A client sent the id of a session that this process does not know. */
  readonly unknownSession: (id: string, principal: string) => Promise<void>;
  /** A client of HTTP+SSE sent a message to a connection that this process does not have. */
  readonly unknownConnection: (id: string) => void;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes the warnings of one endpoint. */
export function sessionWarnings({ isShared, originOf, warn }: SessionWarningParts): SessionWarnings {
  const given = new Set<string>();

  function once(message: string): void {
    if (given.has(message)) return;
    given.add(message);
    warn(message);
  }

  return {
    unknownAnswer() {
      const { toOperator, toClient } = isShared ? lateAnswer : answerHere;
      once(toOperator);
      return toClient;
    },
    async unknownSession(id, principal) {
      // Looking for the origin costs signatures, and both signs have been reported.
      if (given.has(sessionMeanwhile) && given.has(sessionEarlier)) return;
      const origin = await originOf(id, principal);
      if (origin === 'meanwhile') once(sessionMeanwhile);
      if (origin === 'earlier') once(sessionEarlier);
    },
    unknownConnection(id) {
      if (UUID.test(id)) once(connectionElsewhere);
    },
  };
}

const lateAnswer = {
  toOperator: 'A client answered a question that is not open: it was never asked, or its call has ended.',
  toClient: 'No open question has this id. It was never asked, or its call has ended.',
};
const answerHere = {
  toOperator: `A client answered a question that is not open in this process: its call has ended, or another process asked it. ${SHARING_ADVICE}`,
  toClient: 'This process did not ask a question with this id, or its call has ended.',
};
const sessionMeanwhile = `A client sent the id of a session that was opened while this process ran, but not with its secret. ${SHARING_ADVICE} If there is only this process, the id belongs to another caller or is forged, and you need do nothing.`;
const sessionEarlier =
  'A client sent the id of a session that was opened before this process started, with a secret that this process does not have, so the client has to begin a new session. To change a secret without ending sessions, set MCP_SECRET to the new and the old one, with a comma between them.';
const connectionElsewhere =
  'A client of HTTP+SSE (2024-11-05) sent a message to a connection that this process does not have: the connection has just closed, or another process has it. If several processes serve this server, let the balancer send all requests of such a client (the paths that end in /sse and /messages) to the same process; a cluster does not replace that.';
