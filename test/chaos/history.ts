// The history of a kill test: the effects of the replicas, and what the clients saw.

/** An effect, in the order in which the effects of all replicas happened. */
export type Effect =
  | (ReplicaEffect & {
      readonly kind: 'step';
      readonly job: string;
      readonly step: number;
      readonly nonce: string;
      /** The idempotency key of the step. */
      readonly key: string;
    })
  | (ReplicaEffect & { readonly kind: 'payment'; readonly payment: string; readonly nonce: string })
  /** The answer that a handler got to its question. */
  | (ReplicaEffect & {
      readonly kind: 'answer';
      readonly question: string;
      readonly answer: string;
      /** The caller that answered. */
      readonly from: string;
    })
  /** A replica is about to get a signal. */
  | { readonly kind: 'struck'; readonly pid: number; readonly signal: NodeJS.Signals }
  /** A replica that was paused is about to continue. */
  | { readonly kind: 'resumed'; readonly pid: number };

/** The members of every effect of a replica. */
interface ReplicaEffect {
  readonly caller: string;
  readonly pid: number;
  /** Effects of one process with the same number happened without a pause of its event loop between them. */
  readonly turn: number;
}

/** The outcome of a call that names the call and the caller that it is for. */
export interface OwnResult {
  readonly id: string;
  readonly caller: string;
}

/** An observation of a client, in the order of the test's process. */
export type Observation =
  /** The client knows that there is a task. */
  | { readonly saw: 'task'; readonly job: string; readonly caller: string }
  | {
      readonly saw: 'job';
      readonly job: string;
      readonly caller: string;
      readonly result: OwnResult & { readonly nonces: readonly string[] };
    }
  /** The task is not known, has failed, or has not ended in time. */
  | { readonly saw: 'failure'; readonly job: string; readonly caller: string; readonly reason: string }
  | {
      readonly saw: 'payment';
      readonly payment: string;
      readonly caller: string;
      readonly result: OwnResult & { readonly nonce: string };
    }
  | { readonly saw: 'result'; readonly call: string; readonly caller: string; readonly result: OwnResult }
  /** A question, and the caller that it was meant for. */
  | { readonly saw: 'question'; readonly caller: string; readonly to: string; readonly question: string }
  /** The progress that a call reported, out of `total`. */
  | {
      readonly saw: 'stream';
      readonly call: string;
      readonly progress: readonly number[];
      readonly total: number;
      readonly hasResult: boolean;
    }
  | { readonly saw: 'subscribed'; readonly topic: string; readonly client: string }
  /** The server has confirmed that a topic has changed to this version. */
  | { readonly saw: 'announced'; readonly topic: string; readonly version: number }
  /** The version that a subscriber has read after it was told to. */
  | { readonly saw: 'read'; readonly topic: string; readonly client: string; readonly version: number }
  /** A client has tried to get something that belongs to another caller. */
  | { readonly saw: 'intrusion'; readonly what: string; readonly succeeded: boolean };

/** A row that a step wrote in the transaction of its journal. */
export interface TransferRow {
  readonly job: string;
  readonly step: number;
  readonly nonce: string;
}

/** Everything that is known about a run. */
export interface History {
  readonly effects: readonly Effect[];
  readonly observations: readonly Observation[];
  /** The rows that steps wrote in transactions; undefined on an engine without transactions. */
  readonly rows?: readonly TransferRow[] | undefined;
}
