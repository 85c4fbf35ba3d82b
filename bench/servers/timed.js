/**
 * Makes a number of calls, one after the other, and returns the microseconds that each took.
 * @param {() => Promise<{ content: { text: string }[] }>} once
 */
export function timed(once) {
  return async function run({ calls }) {
    if ((await once()).content[0].text === '') throw new Error('The call has no text in its result.');
    const from = performance.now();
    for (let done = 0; done < calls; done++) await once();
    return ((performance.now() - from) * 1000) / calls;
  };
}
