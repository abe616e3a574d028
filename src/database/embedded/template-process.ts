import { makeTemplate } from "./template.ts"

// The program of a child process (template.ts): initdb takes 900 MB that a process never gives back.
const template = await makeTemplate()
await Bun.write(Bun.stdout, template)
