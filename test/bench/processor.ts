import { existsSync, readFileSync } from "node:fs"
import type { Sql } from "../../src/database/types.ts"

/**
 * Milliseconds of processor time since the start, over all threads: of this process without its database, and of the
 * database.
 */
export interface ProcessorTime {
  process: number
  database: number
}

/**
 * Returns a clock of processor time. For a server, it measures the present processes of this database, which must run
 * on this machine; for the embedded database, all threads of this process except the first.
 */
export async function processorClock(sql: Sql, server: string | undefined): Promise<() => ProcessorTime> {
  const all = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  if (!server)
    return () => ({ process: cpuMs("self/task", process.pid), database: all() - cpuMs("self/task", process.pid) })
  // each connection has a process, which starts when that many connections are busy
  await Promise.all(Array.from({ length: sql.options.max }, () => sql`select pg_sleep(0.2)`))
  const rows = await sql<{ pid: number }[]>`
    select pid
    from pg_stat_activity
    where datname = current_database()
    order by pid
    limit 1000`
  return () => ({ process: all(), database: rows.reduce((sum, { pid }) => sum + cpuMs("", pid), 0) })
}

/**
 * Returns a task's processor time. Linux: the first number of /proc/PID/schedstat, in nanoseconds; NaN without such a
 * process.
 */
function cpuMs(pid: string, id: number): number {
  const file = `/proc/${pid}/${id}/schedstat`
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) / 1e6 : Number.NaN
}
