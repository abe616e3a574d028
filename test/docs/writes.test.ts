import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import { FAULTS, type FaultCode } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { printed } from "../shell.ts"
import { cells, pageOf } from "./pages.ts"

describe("the manual's page about writes", () => {
  const section = pageOf("writes")
  let service: Service
  let server: Bun.Server<undefined>

  beforeAll(async () => {
    service = openService({ sql: await freshDatabase() })
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => service.app.fetch(request, "127.0.0.1") })
  })
  afterAll(async () => {
    await server.stop(true)
  })

  test("the manual lists every action with credits, scope and plan, and no other", () => {
    const rows = cells(section).filter(([name]) => actions.some((action) => `\`${action.name}\`` === name))
    expect(rows).toEqual(
      actions.map(({ name, credits, scope, plan, destructive }) => [
        `\`${name}\``,
        `${credits}`,
        `\`${scope}\``,
        plan,
        destructive ? "yes" : "no",
      ]),
    )
    const table = section.split("| action ")[1]!.split("\n\n")[0]!
    expect(table.split("\n")).toHaveLength(2 + actions.length)
  })

  test("the manual lists every error code of writes under its status", () => {
    const rows = cells(section).filter(([status]) => /^\d{3}$/.test(status as string))
    const named = rows.flatMap(([status, codes]) =>
      codes!.match(/\w{3,}/g)!.map((code) => [code, Number(status)] as const),
    )
    for (const [code, status] of named) expect([code, FAULTS[code as FaultCode]?.status]).toEqual([code, status])
    const writeOperations = catalog.filter(({ id }) => id === "preview_action" || id === "confirm_action")
    const declared = writeOperations.flatMap(({ faults }) => faults)
    expect(declared).toContain("confirm_token_mismatch")
    expect(named.map(([code]) => code)).toEqual(
      expect.arrayContaining([
        ...declared,
        "unknown_action",
        "scope_required",
        "test_key_read_only",
        "credits_exhausted",
      ]),
    )
  })

  test("the manual's commands work as pasted: a preview, and the confirm of its token", async () => {
    const [variables, preview, confirm] = /```sh\n([^`]*)```/.exec(section)![1]!.trim().split("\n") as string[]
    const localVariables = variables!.replace("http://127.0.0.1:8787", server.url.origin)
    expect(localVariables).not.toBe(variables!)
    const env = { APPMETER_KEY: await service.key(await service.workspace()) }
    const [printedPreview] = await printed(`${localVariables}\n${preview}`, env)
    const { confirmToken, ...previewed } = JSON.parse(printedPreview!)
    expect(previewed).toMatchObject({ action: "add_app", credits: 2 })
    const [done] = await printed(`${localVariables}\n${confirm}`, { ...env, TOKEN: confirmToken })
    expect(JSON.parse(done!)).toMatchObject({ action: "add_app", status: "applied", credits: 2 })
  })
})
