export function run({ year }: { year: number }): string {
  return `Nothing much happened in ${year}.`;
}
