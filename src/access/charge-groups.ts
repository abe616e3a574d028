import { isConnectionProblem } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { type ChargeResult, chargeAll, checkCost, type Due } from "./credits.ts"

/** Charges a call; as exact as `charge`, and settled when its charge is committed. */
export type ChargeCall = (due: Due) => Promise<ChargeResult>

/** Of one group: some 2 ms of work. */
const MOST_TOGETHER = 100
/** Statements for several workspaces under way at once. */
const MOST_UNDER_WAY = 2
/** From then on nobody waits behind a statement that has not come back: its connection may be dead. */
const STALLED_MS = 1_000

/**
 * Charges that come while others are under way share a statement and a commit, one of each workspace in turn. Charges
 * of a locked account wait in a statement of their own. A statement that fails is tried by workspace, then charge by
 * charge.
 */
export function createChargeGroups(sql: Sql): ChargeCall {
  /** the workspace served last is last */
  const lines = new Map<number, QueuedCharge[]>()
  const busy = new Set<number>()
  let underWay = 0

  const send = (): void => {
    while (underWay < MOST_UNDER_WAY) {
      const group = takeGroup(lines, busy)
      if (group.length === 0) return
      void chargeGroup(group)
    }
  }
  /** Marks what is under way; what it gives ends that, as time does. */
  const begin = (workspaces: ReadonlySet<number>, waits: boolean): (() => void) => {
    for (const workspace of workspaces) busy.add(workspace)
    if (!waits) underWay++
    const end = () => {
      clearTimeout(timer)
      if (ended) return
      ended = true
      for (const workspace of workspaces) busy.delete(workspace)
      if (!waits) underWay--
      send()
    }
    let ended = false
    const timer = setTimeout(end, STALLED_MS)
    return end
  }
  const chargeGroup = async (group: QueuedCharge[]): Promise<void> => {
    const workspaces = new Set(group.map(workspaceOf))
    const end = begin(workspaces, false)
    const apart = Map.groupBy((await attempt(sql, group, false)).left, workspaceOf)
    // these stay busy
    for (const workspace of apart.keys()) workspaces.delete(workspace)
    end()
    for (const [workspace, own] of apart) void chargeApart(workspace, own)
  }
  const chargeApart = async (workspace: number, own: QueuedCharge[]): Promise<void> => {
    const end = begin(new Set([workspace]), true)
    const { left } = await attempt(sql, own, true)
    for (const one of left) {
      const { error } = await attempt(sql, [one], true)
      if (error) one.reject(error)
    }
    end()
  }
  return async (due) => {
    checkCost(due)
    const line = lines.get(due.workspaceId) ?? []
    lines.set(due.workspaceId, line)
    const { promise, resolve, reject } = Promise.withResolvers<ChargeResult>()
    line.push({ due, resolve, reject })
    send()
    return promise
  }
}

interface QueuedCharge {
  due: Due
  resolve(charged: ChargeResult): void
  reject(error: unknown): void
}

const workspaceOf = ({ due }: QueuedCharge) => due.workspaceId

/** One of each workspace in turn, of those that have nothing under way; takes them out of their lines. */
function takeGroup(lines: Map<number, QueuedCharge[]>, busy: ReadonlySet<number>): QueuedCharge[] {
  const group: QueuedCharge[] = []
  const ready = [...lines].filter(([workspace]) => !busy.has(workspace)).slice(0, MOST_TOGETHER)
  for (let turn = 0, before = -1; group.length > before; turn++) {
    before = group.length
    for (const [, line] of ready) {
      const one = line[turn]
      if (one && group.length < MOST_TOGETHER) group.push(one)
    }
  }
  const taken = Map.groupBy(group, workspaceOf)
  for (const [workspace, line] of ready) {
    const rest = line.slice(taken.get(workspace)?.length ?? 0)
    lines.delete(workspace)
    if (rest.length > 0) lines.set(workspace, rest)
  }
  return group
}

/** `left` is what a statement did not decide. Where nobody can say what was done, all of them fail. */
async function attempt(
  sql: Sql,
  group: QueuedCharge[],
  waits: boolean,
): Promise<{ left: QueuedCharge[]; error?: unknown }> {
  const dues = group.map(({ due }) => due)
  let answers: (ChargeResult | undefined)[]
  try {
    answers = await chargeAll(sql, dues, waits)
  } catch (error) {
    if (!isConnectionProblem(error)) return { left: group, error }
    for (const { reject } of group) reject(error)
    return { left: [] }
  }
  for (const [at, charged] of answers.entries()) if (charged) group[at]!.resolve(charged)
  return { left: group.filter((_, at) => !answers[at]) }
}
