interface Lengths {
  /** The shortest of the latest runs: what else ran beside them made the others longer. Undefined = none ended yet. */
  expected(work: string): number | undefined
  /** The same of work that is known well enough to refuse it, and that was tried a moment ago. */
  certain(work: string): number | undefined
  note(work: string, ms: number): void
}

const LATEST = 8
/** So many runs agree before anything is refused by them. */
const ENOUGH = 3
/** After that it is tried once more: what was slow may have become quick. */
const TRIED_AGAIN_MS = 10_000
const KINDS_KEPT = 5_000

export function createLengths(now: () => number): Lengths {
  const kept = new Map<string, { latest: number[]; shortest: number; at: number }>()
  return {
    expected: (work) => kept.get(work)?.shortest,
    certain(work) {
      const known = kept.get(work)
      return known && known.latest.length >= ENOUGH && now() - known.at < TRIED_AGAIN_MS ? known.shortest : undefined
    },
    note(work, ms) {
      const latest = kept.get(work)?.latest ?? []
      latest.push(ms)
      if (latest.length > LATEST) latest.shift()
      // the latest used stands last
      kept.delete(work)
      kept.set(work, { latest, shortest: Math.min(...latest), at: now() })
      if (kept.size > KINDS_KEPT) kept.delete(kept.keys().next().value as string)
    },
  }
}
