import { DEMO_FILE, type LoadedDemo, loadDemo, removeDemo } from "../actions/demo.ts"
import { readTree } from "../database/assets.ts"
import type { Sql } from "../database/types.ts"
import { type Command, CommandProblem } from "./command.ts"
import { show, table } from "./show.ts"
import { chooseWorkspace, withDatabase } from "./with-database.ts"

export const demoLoad: Command = {
  name: "demo load",
  summary: "Load recorded App Store search results of 2025-10-25 and track a few of their apps.",
  examples: [["demo load", "real ranks in all three states; loading again changes nothing"]],
  options: { workspace: { value: "NAME", meaning: "The workspace; needless while there is only one." } },
  async run(invocation) {
    const loaded = await withDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      return await loadDemoInto(sql, workspace.id)
    })
    show(invocation, loaded, () =>
      table(
        ["APP", "NAME"],
        loaded.apps.map(({ id, name }) => [id, name]),
      ),
    )
    return 0
  },
}

export const demoRemove: Command = {
  name: "demo remove",
  summary: "Remove what the demo brought, in every workspace; apps that were worked on are kept.",
  examples: [["demo remove --force", "without asking; no start of the server loads it again"]],
  options: { force: { meaning: "Do not ask." } },
  async run(invocation) {
    const removed = await withDatabase(invocation, async (sql) => {
      if (!invocation.has("force"))
        await invocation.terminal.confirm(
          "This removes the demo's readings and apps; those with keywords, tags, burials, rivals or a goal of your own stay.",
        )
      await forgetDemo(sql)
      return await removeDemo(sql)
    })
    show(invocation, { removed }, () => [
      `removed ${removed.apps} apps and ${removed.readings} readings`,
      ...removed.kept.map(({ id, name }) => `kept ${id} (${name}): it is your own now`),
    ])
    return 0
  },
}

/**
 * Loads the demo once in the life of an instance: never again after `demo remove`, but again when the first time broke
 * off. `firstWorkspaceId` is null unless this start made it. Returns whether it was loaded.
 */
export async function loadDemoOnce(sql: Sql, firstWorkspaceId: number | null): Promise<boolean> {
  if (firstWorkspaceId !== null) {
    await sql`
      insert into instance (key, value)
      values ('demo', ${String(firstWorkspaceId)})
      on conflict (key) do nothing`
  }
  const [wanted] = await sql<{ value: string }[]>`
    select i.value
    from instance i
    join workspace w on w.id::text = i.value
    where i.key = 'demo' and w.deleted_at is null`
  if (!wanted) return false
  await loadDemoInto(sql, Number(wanted.value))
  await forgetDemo(sql)
  return true
}

async function loadDemoInto(sql: Sql, workspaceId: number): Promise<LoadedDemo> {
  const file = readTree("fixtures/demo", ".jsonl").get(DEMO_FILE)
  if (file === undefined) throw new CommandProblem(`fixtures/demo/${DEMO_FILE} is missing; restore it from the release`)
  return await loadDemo(sql, workspaceId, file)
}

async function forgetDemo(sql: Sql): Promise<void> {
  await sql`
    insert into instance (key, value)
    values ('demo', 'done')
    on conflict (key) do update set value = excluded.value`
}
