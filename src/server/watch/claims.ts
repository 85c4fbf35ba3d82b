// Decides which process watches a resource that has subscribers.

/** The outcome of a claim: this process is the first to watch, has taken the watch over from another one, or another one watches. */
export type Claim = 'first' | 'taken' | 'elsewhere';

/** Decides, for all processes of a server, which one of them watches a resource. */
export interface WatchClaims {
  /** Records that this process has subscribers, and claims the watch unless another process has it. */
  claim(uri: string): Promise<Claim>;
  /** Whether this process still has the watch that it claimed. Another one may have taken it over while this one was paused. */
  isMine(uri: string): Promise<boolean>;
  /** Whether other processes have subscribers. */
  othersWant(uri: string): Promise<boolean>;
  /** Gives up the watch, if this process has it, and records that this process has no subscribers. */
  release(uri: string): Promise<void>;
  close(): Promise<void>;
}

/** The claims of a server with one process, which has every watch. */
export const onlyProcess: WatchClaims = {
  claim: async () => 'first',
  isMine: async () => true,
  othersWant: async () => false,
  release: async () => undefined,
  close: async () => undefined,
};
