import type { Command } from "./cli/command.ts"

export const serve: Command = {
  name: "serve",
  summary: "Serve the API. The first start makes a workspace and prints its keys, once.",
  examples: [
    ["serve", "with the embedded database in .appmeter"],
    ["serve --demo", "with real ranks to look at, loaded at the first start"],
  ],
  options: { demo: { meaning: "Load the demo into the first workspace, at the first start only." } },
  logs: true,
  // loaded when asked for: the other commands start in half the time without the service
  run: async (invocation) => (await import("../process/serving.ts")).serve(invocation),
}
