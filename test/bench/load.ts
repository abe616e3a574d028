import { readFileSync } from "node:fs"

export interface LoadResult {
  perSecond: number
  /** CPU time of the server process for one request, user and system, in microseconds. */
  cpuMicroseconds: number
  p50Ms: number
  p99Ms: number
}

/**
 * Opens `connections` keep-alive sockets, with one request in flight on each, for `seconds`. Distinguishes answers by
 * their status line, which costs the client far less than parsing them, so that the measurement is about the server.
 */
export async function load(
  pid: number,
  port: number,
  head: string,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  const request = new TextEncoder().encode(`${head}\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
  const latencies: number[] = []
  let counting = false
  let stopped = false
  let bad: string | undefined
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => {
      let sentAt = 0
      let head = ""
      let remaining = Number.POSITIVE_INFINITY
      const send = (socket: { write(data: Uint8Array): number }) => {
        sentAt = performance.now()
        head = ""
        remaining = Number.POSITIVE_INFINITY
        socket.write(request)
      }
      return Bun.connect({
        hostname: "127.0.0.1",
        port,
        socket: {
          open: send,
          data(socket, data) {
            if (remaining === Number.POSITIVE_INFINITY) {
              head += data.toString("latin1")
              const end = head.indexOf("\r\n\r\n")
              if (end < 0) return
              if (!head.startsWith("HTTP/1.1 200")) bad ??= head.slice(0, 300)
              remaining = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - head.length
            } else remaining -= data.length
            if (remaining > 0) return
            if (counting) latencies.push(performance.now() - sentAt)
            if (!stopped) send(socket)
          },
        },
      })
    }),
  )
  await Bun.sleep(700)
  const [startedAt, cpu] = [performance.now(), cpuSeconds(pid)]
  counting = true
  await Bun.sleep(seconds * 1_000)
  counting = false
  const [elapsed, spent] = [(performance.now() - startedAt) / 1_000, cpuSeconds(pid) - cpu]
  stopped = true
  for (const socket of sockets) socket.end()
  if (bad) throw new Error(`not a 200: ${bad}`)
  latencies.sort((a, b) => a - b)
  const quantile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  const { length } = latencies
  return {
    perSecond: length / elapsed,
    cpuMicroseconds: (spent / length) * 1e6,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  }
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Returns the processor time of a process. Linux: fields 14 and 15 of /proc/PID/stat, in ticks of 10 ms. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}
