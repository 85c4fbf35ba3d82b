type Report = (message: string, cause?: unknown) => void;

/** Passes on the first reports of a kind and says once that the rest is left out, so that a faulty peer cannot fill the log. */
export function limitReports(report: Report, limit = 10): Report {
  let reported = 0;
  return function problem(message, cause) {
    reported++;
    if (reported <= limit) report(message, cause);
    else if (reported === limit + 1)
      report(`There were more than ${limit} such problems: no more are reported`);
  };
}
