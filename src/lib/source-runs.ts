/** Consecutive points of one source. */
interface SourceRun<Source> {
  source: Source
  /** Days of the first and last point. */
  from: string
  to: string
}

/** Returns the source of a day's point. Null for a day without one. */
export function sourceOn<Source>(runs: readonly SourceRun<Source>[], day: string): Source | null {
  return runs.find(({ from, to }) => from <= day && day <= to)?.source ?? null
}

/** Returns the runs of points sorted by day, oldest first. A source that comes back starts a new run. */
export function sourceRuns<Source>(points: readonly { day: string; source: Source }[]): SourceRun<Source>[] {
  const runs: SourceRun<Source>[] = []
  for (const { day, source } of points) {
    const last = runs.at(-1)
    if (last?.source === source) last.to = day
    else runs.push({ source, from: day, to: day })
  }
  return runs
}
