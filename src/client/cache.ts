/** Keeps results for as long as their server said. Clients may share one: only public results go from one to another. */
export class ResultCache {}
