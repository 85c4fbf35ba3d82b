type Report = (message: string, cause?: unknown) => void;

/** Passes on the first reports of a kind, and then reports once that the rest is skipped: a faulty peer must not fill the log. */
export function limitReports(report: Report, limit = 10): Report {
  let count = 0;
  return function problem(message, cause) {
    count++;
    if (count <= limit) report(message, cause);
    else if (count === limit + 1) report(`There were more than ${limit} such problems: no more are reported`);
  };
}
