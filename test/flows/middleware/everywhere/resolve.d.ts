/** Whether a module gets the servers with every middleware. */
export function isOfTests(url: string): boolean;
