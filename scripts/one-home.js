// The small ideas that have one home each, and the places that write them again.

/** The home of each function that no other module may declare. */
const HOMES = {
  every: 'src/async/every.ts',
  withRetries: 'src/async/with-retries.ts',
  isObject: 'src/jsonrpc/message.ts',
  tryParse: 'src/jsonrpc/try-parse.ts',
  tryParseObject: 'src/jsonrpc/try-parse.ts',
  tryDecode: 'src/protocol/encoding/percent-decoding.ts',
};

/** The modules that may set an interval themselves, with the reason. */
const INTERVALS = {
  'src/async/every.ts': 'the home of intervals',
  'src/transports/http/server/in-flight.ts':
    'it must know whether the process can exit while the timer is set',
};

/**
 * The failures of modules that declare a function which has its home elsewhere, or set an interval by hand.
 *
 * @param {readonly { readonly path: string, readonly text: string }[]} modules
 * @returns {string[]}
 */
export function homeFailures(modules) {
  return modules.flatMap(({ path, text }) => {
    const copies = Object.entries(HOMES)
      .filter(([name, home]) => path !== home && declares(text, name))
      .map(
        ([name, home]) => `${path} declares ${name}, which ${home} has. Import it, or give it another name.`,
      );
    const isExcused = Object.hasOwn(INTERVALS, path) || !/\bsetInterval\(/.test(text);
    return isExcused ? copies : [...copies, `${path} sets an interval. Use every() of src/async/every.ts.`];
  });
}

/** @param {string} text @param {string} name */
function declares(text, name) {
  return new RegExp(`\\bfunction ${name}\\b|\\bconst ${name} = (?:async )?(?:\\(|function)`).test(text);
}
