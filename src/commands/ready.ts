import { get } from "node:http"
import { listeningUrl } from "../settings/settings.ts"
import { type Command, CommandProblem, WrongUse } from "./cli/command.ts"
import { show } from "./cli/show.ts"

export const ready: Command = {
  name: "ready",
  summary: "Check whether the server accepts calls, for health checks.",
  details: "Exit code 0 if it is ready, 1 if not.",
  examples: [["ready", "as the health check of a container without shell and curl"]],
  async run(invocation) {
    const { host, port } = invocation.settings
    if (port === 0) throw new WrongUse("the port is unknown with PORT=0; set PORT to the port of the server")
    const url = `${listeningUrl(host, port)}/readyz`
    const status = await statusOf(url)
    if (status !== 200) throw new CommandProblem(`not ready: ${url} answered ${status}`)
    show(invocation, { ready: true, url }, () => ["ready"])
    return 0
  },
}

// Below the usual timeout of health checks, so that the reason is printed.
const TIMEOUT_MS = 2_500

/** Uses node:http because fetch would use a proxy named in the environment. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = get(url, (response) => {
      clearTimeout(late)
      response.resume()
      resolve(response.statusCode)
    })
    const fail = (why: string) => {
      clearTimeout(late)
      reject(new CommandProblem(`not ready: ${url} ${why}`))
      request.destroy()
    }
    const late = setTimeout(() => fail(`did not answer in ${TIMEOUT_MS} ms`), TIMEOUT_MS)
    request.on("error", () => fail("is not reachable"))
  })
}
