/** Points next to each other that one source gave. */
interface SourceRun<Source> {
  source: Source
  /** Days of its first and last point. */
  from: string
  to: string
}

/** Whose the point of a day is; null for a day without one. */
export function sourceOn<Source>(runs: readonly SourceRun<Source>[], day: string): Source | null {
  return runs.find(({ from, to }) => from <= day && day <= to)?.source ?? null
}

/** Whose point is whose, of points in the order of their days: oldest first, and a source again for each time it comes back. */
export function sourceRuns<Source>(points: readonly { day: string; source: Source }[]): SourceRun<Source>[] {
  const runs: SourceRun<Source>[] = []
  for (const { day, source } of points) {
    const last = runs.at(-1)
    if (last?.source === source) last.to = day
    else runs.push({ source, from: day, to: day })
  }
  return runs
}
