import { findPersonId } from "../access/people/people.ts"
import { endSessionById, listSessions } from "../access/sign-in/session.ts"
import { type Command, CommandProblem, firstArgument, WrongUse } from "./cli/command.ts"
import { printable, show, table } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"

export const sessionList: Command = {
  name: "session list",
  summary: "List who is signed in with which browser.",
  examples: [["session list --person ada", "only the sessions of one person"]],
  options: { person: { value: "NAME", meaning: "Only sessions of this person." } },
  async run(invocation) {
    const name = invocation.text("person")
    const sessions = await useDatabase(invocation, async (sql) => {
      const personId = name === undefined ? null : await findPersonId(sql, name)
      if (name !== undefined && personId === null) throw new CommandProblem(`nobody is named ${JSON.stringify(name)}`)
      return await listSessions(sql, { personId })
    })
    show(invocation, { sessions }, () =>
      table(
        ["ID", "PERSON", "WORKSPACE", "LAST USE", "SIGNED IN", "BROWSER"],
        sessions.map(({ id, person, workspace, usedAt, createdAt, agent }) => [
          id,
          person,
          workspace,
          usedAt.toISOString().slice(0, 16),
          createdAt.toISOString().slice(0, 16),
          printable(agent),
        ]),
        "nobody is signed in",
      ),
    )
    return 0
  },
}

export const sessionEnd: Command = {
  name: "session end",
  changes: true,
  summary: "Sign a browser out.",
  examples: [["session end 12", "see the ids with: appmeter session list"]],
  positionals: ["id"],
  async run(invocation) {
    const typed = firstArgument(invocation)
    if (!/^\d{1,9}$/.test(typed)) throw new WrongUse("give the id of the session; see: appmeter session list")
    const isEnded = await useDatabase(invocation, (sql) => endSessionById(sql, Number(typed), null))
    if (!isEnded) throw new CommandProblem(`there is no session with id ${typed}`)
    show(invocation, { ended: Number(typed) }, () => [`ended session ${typed}`])
    return 0
  },
}
