/**
 * Active downloads of this process. For a slow reader, a part of the file is in memory for a long time, so the number
 * of downloads is limited.
 */
interface Downloads {
  /**
   * Starts a download and returns the function that ends it. Null if the link, the address or the process is at its
   * limit.
   */
  begin(link: number, address: string | null): (() => void) | null
}

const MAX_DOWNLOADS = 16
const MAX_PER_ADDRESS = 4
const MAX_PER_LINK = 4

export function createDownloads(): Downloads {
  const counts = new Map<string, number>()
  const add = (name: string, change: number) => {
    const count = (counts.get(name) ?? 0) + change
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
  return {
    begin(link, address) {
      const limits: [string, number][] = [
        ["all", MAX_DOWNLOADS],
        [`link ${link}`, MAX_PER_LINK],
        [`address ${address ?? "unknown"}`, MAX_PER_ADDRESS],
      ]
      if (limits.some(([name, most]) => (counts.get(name) ?? 0) >= most)) return null
      for (const [name] of limits) add(name, 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        for (const [name] of limits) add(name, -1)
      }
    },
  }
}
