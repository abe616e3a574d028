import { isConnectionProblem } from "./gate.ts"

/** A question, with the workspace that asks it. */
interface OfWorkspace {
  workspaceId: number
}

/**
 * Answers many questions in one statement and one commit. Without `waits`, the answer is undefined if a row is locked.
 * With `waits`, only questions that must be asked alone have no answer.
 */
type AskTogether<Question, Answer> = (questions: readonly Question[], waits: boolean) => Promise<(Answer | undefined)[]>

/** Maximum number of questions in a statement: about 2 ms of work. */
const MAX_GROUP = 100
/** Maximum number of concurrent statements for several workspaces. */
const MAX_RUNNING = 2
/** After this time a statement no longer delays others, because its connection may be dead. */
const STALLED_MS = 1_000

/**
 * Groups questions that arrive while others are being answered into one statement and one commit. Workspaces take turns
 * in it. Questions about locked rows wait in a statement per workspace. A statement that fails is repeated per
 * workspace, then per question.
 */
export function createStatementGroups<Question extends OfWorkspace, Answer>(
  ask: AskTogether<Question, Answer>,
): (question: Question) => Promise<Answer> {
  /** Queues by workspace, in the order in which they are served. */
  const queues = new Map<number, PendingQuestion<Question, Answer>[]>()
  const busyWorkspaces = new Set<number>()
  let running = 0

  // Waits for the end of the event-loop turn, so that the first of sixty simultaneous questions is not sent in a
  // statement of its own.
  const send = onceATurn(() => {
    while (running < MAX_RUNNING) {
      const group = takeGroup(queues, busyWorkspaces)
      if (group.length === 0) return
      void askGroup(group)
    }
  })
  /** Marks the workspaces as busy until the returned function is called or the timeout ends. */
  const begin = (workspaces: ReadonlySet<number>, waits: boolean): (() => void) => {
    for (const workspace of workspaces) busyWorkspaces.add(workspace)
    if (!waits) running++
    const end = () => {
      clearTimeout(timer)
      if (hasEnded) return
      hasEnded = true
      for (const workspace of workspaces) busyWorkspaces.delete(workspace)
      if (!waits) running--
      send()
    }
    let hasEnded = false
    const timer = setTimeout(end, STALLED_MS)
    return end
  }
  const askGroup = async (group: PendingQuestion<Question, Answer>[]): Promise<void> => {
    const workspaces = new Set(group.map(workspaceOf))
    const end = begin(workspaces, false)
    const byWorkspace = Map.groupBy((await attempt(ask, group, false)).undecided, workspaceOf)
    // The workspaces of these questions stay busy.
    for (const workspace of byWorkspace.keys()) workspaces.delete(workspace)
    end()
    for (const [workspace, pending] of byWorkspace) void askApart(workspace, pending)
  }
  const askApart = async (workspace: number, group: PendingQuestion<Question, Answer>[]): Promise<void> => {
    const end = begin(new Set([workspace]), true)
    const { undecided } = await attempt(ask, group, true)
    for (const pending of undecided) {
      const { error } = await attempt(ask, [pending], true)
      if (error) pending.reject(error)
    }
    end()
  }
  return (question) => {
    const queue = queues.get(question.workspaceId) ?? []
    queues.set(question.workspaceId, queue)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    queue.push({ question, resolve, reject })
    send()
    return promise
  }
}

/** Runs `work` once for all calls in one turn of the event loop, at the end of the turn. */
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

interface PendingQuestion<Question, Answer> {
  question: Question
  resolve(answer: Answer): void
  reject(error: unknown): void
}

const workspaceOf = ({ question }: { question: OfWorkspace }) => question.workspaceId

/** Takes the next group from the queues of workspaces that are not busy, one question of each per round. */
function takeGroup<One extends { question: OfWorkspace }>(
  queues: Map<number, One[]>,
  busyWorkspaces: ReadonlySet<number>,
): One[] {
  const group: One[] = []
  const ready = [...queues].filter(([workspace]) => !busyWorkspaces.has(workspace)).slice(0, MAX_GROUP)
  for (let turn = 0, before = -1; group.length > before; turn++) {
    before = group.length
    for (const [, queue] of ready) {
      const pending = queue[turn]
      if (pending && group.length < MAX_GROUP) group.push(pending)
    }
  }
  const taken = Map.groupBy(group, workspaceOf)
  for (const [workspace, queue] of ready) {
    const rest = queue.slice(taken.get(workspace)?.length ?? 0)
    queues.delete(workspace)
    if (rest.length > 0) queues.set(workspace, rest)
  }
  return group
}

/** Asks once. If the connection fails, it is unknown whether the statement was executed, so all questions fail. */
async function attempt<Question, Answer>(
  ask: AskTogether<Question, Answer>,
  group: PendingQuestion<Question, Answer>[],
  waits: boolean,
): Promise<{ undecided: PendingQuestion<Question, Answer>[]; error?: unknown }> {
  let answers: (Answer | undefined)[]
  try {
    answers = await ask(
      group.map(({ question }) => question),
      waits,
    )
  } catch (error) {
    if (!isConnectionProblem(error)) return { undecided: group, error }
    for (const { reject } of group) reject(error)
    return { undecided: [] }
  }
  for (const [at, answer] of answers.entries()) if (answer !== undefined) group[at]?.resolve(answer)
  return { undecided: group.filter((_, at) => answers[at] === undefined) }
}
