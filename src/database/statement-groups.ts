import { isConnectionProblem } from "./gate.ts"

/** What is asked for a workspace. */
export interface OfWorkspace {
  workspaceId: number
}

/**
 * Asks many in one statement and one commit, each answered by itself. Without `waits` those of locked rows are undefined;
 * with it only those that must be asked alone.
 */
type AskTogether<Question, Answer> = (questions: readonly Question[], waits: boolean) => Promise<(Answer | undefined)[]>

/** Of one group: some 2 ms of work. */
const MOST_TOGETHER = 100
/** Statements for several workspaces under way at once. */
const MOST_UNDER_WAY = 2
/** From then on nobody waits behind a statement that has not come back: its connection may be dead. */
const STALLED_MS = 1_000

/**
 * What is asked while others are under way shares a statement and a commit, one of each workspace in turn. Those of a locked
 * workspace wait in a statement of their own. A statement that fails is tried by workspace, then one by one.
 */
export function createStatementGroups<Question extends OfWorkspace, Answer>(
  ask: AskTogether<Question, Answer>,
): (asked: Question) => Promise<Answer> {
  /** the workspace served last is last */
  const lines = new Map<number, QueuedQuestion<Question, Answer>[]>()
  const busy = new Set<number>()
  let underWay = 0

  // at the turn's end: the first of sixty that come at once would otherwise have a statement and a commit of its own
  const send = onceATurn(() => {
    while (underWay < MOST_UNDER_WAY) {
      const group = takeGroup(lines, busy)
      if (group.length === 0) return
      void askGroup(group)
    }
  })
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
  const askGroup = async (group: QueuedQuestion<Question, Answer>[]): Promise<void> => {
    const workspaces = new Set(group.map(workspaceOf))
    const end = begin(workspaces, false)
    const apart = Map.groupBy((await attempt(ask, group, false)).left, workspaceOf)
    // these stay busy
    for (const workspace of apart.keys()) workspaces.delete(workspace)
    end()
    for (const [workspace, own] of apart) void askApart(workspace, own)
  }
  const askApart = async (workspace: number, own: QueuedQuestion<Question, Answer>[]): Promise<void> => {
    const end = begin(new Set([workspace]), true)
    const { left } = await attempt(ask, own, true)
    for (const one of left) {
      const { error } = await attempt(ask, [one], true)
      if (error) one.reject(error)
    }
    end()
  }
  return (asked) => {
    const line = lines.get(asked.workspaceId) ?? []
    lines.set(asked.workspaceId, line)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    line.push({ asked, resolve, reject })
    send()
    return promise
  }
}

/** Work done once for all that ask for it in a turn of the event loop, at its end: calls that come at once come together. */
export function onceATurn(work: () => void): () => void {
  let isComing = false
  return () => {
    if (isComing) return
    isComing = true
    setImmediate(() => {
      isComing = false
      work()
    })
  }
}

interface QueuedQuestion<Question, Answer> {
  asked: Question
  resolve(answer: Answer): void
  reject(error: unknown): void
}

const workspaceOf = ({ asked }: { asked: OfWorkspace }) => asked.workspaceId

/** One of each workspace in turn, of those that have nothing under way; takes them out of their lines. */
function takeGroup<One extends { asked: OfWorkspace }>(lines: Map<number, One[]>, busy: ReadonlySet<number>): One[] {
  const group: One[] = []
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
async function attempt<Question, Answer>(
  ask: AskTogether<Question, Answer>,
  group: QueuedQuestion<Question, Answer>[],
  waits: boolean,
): Promise<{ left: QueuedQuestion<Question, Answer>[]; error?: unknown }> {
  let answers: (Answer | undefined)[]
  try {
    answers = await ask(
      group.map(({ asked }) => asked),
      waits,
    )
  } catch (error) {
    if (!isConnectionProblem(error)) return { left: group, error }
    for (const { reject } of group) reject(error)
    return { left: [] }
  }
  for (const [at, answer] of answers.entries()) if (answer !== undefined) group[at]!.resolve(answer)
  return { left: group.filter((_, at) => answers[at] === undefined) }
}
