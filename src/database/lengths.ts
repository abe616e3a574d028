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
  const kept = new Map<string, { latest: number[]; at: number }>()
  return {
    expected: (work) => shortest(kept.get(work)?.latest ?? []),
    certain(work) {
      const { latest = [], at = 0 } = kept.get(work) ?? {}
      return latest.length >= ENOUGH && now() - at < TRIED_AGAIN_MS ? shortest(latest) : undefined
    },
    note(work, ms) {
      const latest = [...(kept.get(work)?.latest ?? []), ms].slice(-LATEST)
      // the latest used stands last
      kept.delete(work)
      kept.set(work, { latest, at: now() })
      if (kept.size > KINDS_KEPT) kept.delete(kept.keys().next().value as string)
    },
  }
}

function shortest(latest: readonly number[]): number | undefined {
  return latest.length > 0 ? Math.min(...latest) : undefined
}
