import type { Command } from "./cli/command.ts"
import { untilStopped } from "./process/until-stopped.ts"

export const serve: Command = {
  name: "serve",
  summary: "Serve the API, the tools and the pages.",
  details: "The first start creates a workspace and prints its keys once.",
  examples: [
    ["serve", "with the embedded database in .appmeter"],
    ["serve --demo", "with demo data, loaded at the first start"],
  ],
  options: { demo: { meaning: "Load the demo into the first workspace, at the first start only." } },
  logs: true,
  // imported here, because other commands start twice as fast without the service; the database opens during the import
  run: (invocation) =>
    untilStopped(invocation, async () => {
      const { prepare, serve } = await import("./process/serving.ts")
      const prepared = prepare(invocation.settings)
      return (running) => serve(invocation, running, prepared)
    }),
}
