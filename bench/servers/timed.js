/**
 * Makes as many calls as asked, one after the other, and says how many microseconds one took.
 * @param {() => Promise<{ content: { text: string }[] }>} once
 */
export function timed(once) {
  return async function run({ calls }) {
    if ((await once()).content[0].text === '') throw new Error('The call was not answered');
    const from = performance.now();
    for (let done = 0; done < calls; done++) await once();
    return ((performance.now() - from) * 1000) / calls;
  };
}
